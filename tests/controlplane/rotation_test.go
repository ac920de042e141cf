package controlplane

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"rankward.io/tests/controlplane/harness"
)

// rotate replaces Rankward's own leaf by a new one of the same CA, each file by a rename, as an
// administrator with `mv` would. The callers keep theirs: when client-go finds a new client
// certificate it closes all of its own connections, with the calls that are under way on them
// ("use of closed network connection"), so a call lost that way says nothing about Rankward.
func rotate(t *testing.T) {
	t.Helper()
	fresh := t.TempDir()
	for _, file := range []string{"ca.crt", "ca.key"} {
		check(t, os.WriteFile(filepath.Join(fresh, file), []byte(readFile(t, filepath.Join(certificates.Dir, file))), 0o600))
	}
	must(t, func() (harness.Certificates, error) { return harness.DevelopmentCertificates(root, fresh) })
	for _, kind := range []string{".key", ".crt"} {
		check(t, os.Rename(filepath.Join(fresh, "server"+kind), filepath.Join(certificates.Dir, "server"+kind)))
	}
}

// presented is the serial number of the certificate that a new connection to the port gets.
func presented(port int) (string, error) {
	// Only the serial is read; whether the chain verifies is what the load below checks.
	pair, err := tls.LoadX509KeyPair(certificates.Scheduler.CertFile, certificates.Scheduler.KeyFile)
	if err != nil {
		return "", err
	}
	connection, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port),
		&tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{pair}})
	if err != nil {
		return "", err
	}
	defer connection.Close()
	return connection.ConnectionState().PeerCertificates[0].SerialNumber.Text(16), nil
}

func TestCertificatesRotatedUnderLoadLoseNoCall(t *testing.T) {
	installation := installed(t)
	rankward := installation.Rankward
	space := namespace(t, "rotation", nil)
	webhookAnswers(t, space)
	nodes(t, harness.TwoLeaves("rotation", ranks))
	candidates := extenderArgs("rotation-near-0", "rotation-far-0", "rotation-near-1")

	var calls, lost atomic.Int64
	var lastError atomic.Value
	stop := make(chan struct{})
	var callers sync.WaitGroup
	load := func(name string, call func() error) {
		callers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				calls.Add(1)
				if err := call(); err != nil {
					lost.Add(1)
					lastError.Store(fmt.Sprintf("%s: %v", name, err))
				}
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	post := func(name, url string, body any, identity harness.KeyPair, keepAlive bool, verify func([]byte) error) {
		client := must(t, func() (*http.Client, error) { return certificates.HTTPClient(&identity, 5*time.Second) })
		client.Transport.(*http.Transport).DisableKeepAlives = !keepAlive
		load(name, func() error {
			status, answer, err := harness.PostJSON(t.Context(), client, url, body)
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("status %d: %s", status, answer)
			}
			if err == nil {
				err = verify(answer)
			}
			return err
		})
	}
	filtered := func(answer []byte) error {
		var result extenderv1.ExtenderFilterResult
		if err := json.Unmarshal(answer, &result); err != nil {
			return err
		}
		if result.Error != "" || result.NodeNames == nil || len(*result.NodeNames) == 0 {
			return fmt.Errorf("answered %s", answer)
		}
		return nil
	}
	answered := func([]byte) error { return nil }
	eventually(t, "the new nodes to be in our snapshot", func() error {
		client, err := certificates.HTTPClient(&certificates.Scheduler, 5*time.Second)
		if err != nil {
			return err
		}
		defer client.CloseIdleConnections()
		_, answer, err := harness.PostJSON(t.Context(), client, rankward.ExtenderURL("filter"), candidates)
		if err != nil {
			return err
		}
		return filtered(answer)
	})
	for _, keepAlive := range []bool{true, true, false} {
		post(fmt.Sprintf("filter, keep-alive %t", keepAlive), rankward.ExtenderURL("filter"), candidates, certificates.Scheduler, keepAlive, filtered)
		post(fmt.Sprintf("validate, keep-alive %t", keepAlive), rankward.ValidateURL(), review(t), certificates.APIServer, keepAlive, answered)
	}
	// The two real callers.
	load("kube-apiserver to the webhook", func() error {
		_, err := cluster.Client.CoreV1().Pods(space).Create(t.Context(), pod(space, "asks", nil),
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
	var pods []string
	scheduled := func(batch string) {
		for i := range 5 {
			name := fmt.Sprintf("%s-%d", batch, i)
			createPod(t, pod(space, name, map[string]string{"nvidia.com/gpu": "1"}))
			pods = append(pods, name)
		}
	}

	for round, how := range []string{"by looking at the files", "told by SIGHUP"} {
		before := must(t, func() (string, error) { return presented(rankward.ExtenderPort) })
		scheduled(fmt.Sprintf("before-%d", round))
		rotate(t)
		if how == "told by SIGHUP" {
			check(t, rankward.Signal(syscall.SIGHUP))
		}
		for _, port := range []int{rankward.ExtenderPort, rankward.WebhookPort} {
			eventually(t, "the new certificate to be presented, "+how, func() error {
				now, err := presented(port)
				if err == nil && now == before {
					err = fmt.Errorf("still serial %s", before)
				}
				return err
			})
		}
		scheduled(fmt.Sprintf("after-%d", round))
	}
	for _, name := range pods {
		boundNode(t, space, name)
	}
	close(stop)
	callers.Wait()
	t.Logf("%d calls over two rotations, %d lost", calls.Load(), lost.Load())
	if lost.Load() != 0 {
		t.Errorf("%d of %d calls were lost; the last: %v", lost.Load(), calls.Load(), lastError.Load())
	}
	if calls.Load() < 1000 {
		t.Errorf("only %d calls: that is no load", calls.Load())
	}
	for _, name := range pods {
		events, err := cluster.Client.CoreV1().Events(space).List(t.Context(),
			metav1.ListOptions{FieldSelector: "involvedObject.name=" + name + ",reason=FailedScheduling"})
		check(t, err)
		for _, e := range events.Items {
			t.Errorf("%s: kube-scheduler lost a call: %s", name, e.Message)
		}
	}
}
