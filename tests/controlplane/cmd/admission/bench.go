package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"rankward.io/tests/controlplane/harness"
)

const (
	// The API server's, for the entry of pods. Its buckets end at 5 ms, 25 ms, 100 ms and so on: a
	// quantile within one of them supposes that it is evenly filled.
	theirs = "apiserver_admission_webhook_admission_duration_seconds"
	ours   = "rankward_request_duration_seconds"
)

var (
	theirLabels = map[string]string{"name": "pods.rankward.io", "operation": "CREATE"}
	ourLabels   = map[string]string{"verb": "validate"}
)

// sent is what the API server calls the webhook for.
type sent int

const (
	nothing     sent = iota // not registered
	whatMatters             // as it ships
	everyPod                // without the conditions
)

func (s sent) String() string {
	return [...]string{"nothing", "as it ships", "every pod"}[s]
}

type run struct {
	creates, clients int
	dryRun           bool
	sent             sent
}

type result struct {
	run
	seconds               float64
	created               []time.Duration // of each create, sorted
	calls, denied, warned int64
	// Seconds.
	mean, p50, p99, within5ms float64
	ownMean, ownP99           float64
}

func (r result) String() string {
	kind := "stored"
	if r.dryRun {
		kind = "dry run"
	}
	quantile := func(q float64) float64 { return r.created[int(q*float64(len(r.created)-1))].Seconds() * 1e3 }
	text := fmt.Sprintf("%s\t%d\t%s\t%.0f\t%.2f\t%.2f", kind, r.clients, r.sent, float64(r.creates)/r.seconds, quantile(0.5), quantile(0.99))
	if r.sent == nothing {
		return text + strings.Repeat("\t-", 9)
	}
	return text + fmt.Sprintf("\t%d\t%.2f\t%.2f\t%.2f\t%.2f %%\t%.3f\t%.3f\t%d\t%d",
		r.calls, 1e3*r.mean, 1e3*r.p50, 1e3*r.p99, 100*r.within5ms, 1e3*r.ownMean, 1e3*r.ownP99, r.denied, r.warned)
}

type bench struct {
	cluster      *harness.ControlPlane
	certificates harness.Certificates
	rankward     *harness.Rankward
	registration string
	client       *http.Client
	runs         int
}

func newBench(ctx context.Context) (*bench, error) {
	b := &bench{}
	var webhookPort int
	var err error
	if b.cluster, b.certificates, webhookPort, err = harness.StartWithCertificates(ctx, os.Stderr); err != nil {
		return nil, err
	}
	root, err := harness.Repository()
	if err == nil {
		b.rankward, b.registration, err = harness.ShippedWebhook(ctx, b.cluster, root, b.certificates, webhookPort)
	}
	if err == nil {
		b.client, err = rest.HTTPClientFor(b.cluster.Admin)
	}
	if err != nil {
		b.cluster.Stop()
		return nil, err
	}
	return b, nil
}

// register has the API server call for what is asked, and waits until it does.
func (b *bench) register(ctx context.Context, wanted sent) error {
	client := b.cluster.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	err := client.Delete(ctx, "rankward", metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		err = nil
	}
	if err == nil && wanted != nothing {
		err = b.cluster.Apply(ctx, b.registration)
	}
	if err == nil && wanted == everyPod {
		_, err = client.Patch(ctx, "rankward", types.JSONPatchType,
			[]byte(`[{"op":"test","path":"/webhooks/0/name","value":"pods.rankward.io"},{"op":"remove","path":"/webhooks/0/matchConditions"}]`), metav1.PatchOptions{})
	}
	if err != nil {
		return err
	}
	called := func(p pod) (bool, error) {
		before, err := b.rankward.Metrics()
		if err != nil {
			return false, err
		}
		if _, _, err := b.create(ctx, "default", p.body("probe"), true); err != nil {
			return false, err
		}
		after, err := b.rankward.Metrics()
		return after.Sum(ours+"_count", ourLabels) > before.Sum(ours+"_count", ourLabels), err
	}
	return harness.WaitFor(ctx, "the API server to send "+wanted.String(), time.Minute, 100*time.Millisecond, func() error {
		matters, err := called(pods[len(pods)-1])
		if err != nil {
			return err
		}
		plain, err := called(pods[0])
		if err == nil && (matters != (wanted != nothing) || plain != (wanted == everyPod)) {
			err = fmt.Errorf("a pod that matters is sent: %t, a plain one: %t", matters, plain)
		}
		return err
	})
}

// create returns the status and whether there were warnings.
func (b *bench) create(ctx context.Context, namespace string, body []byte, dryRun bool) (int, bool, error) {
	url := b.cluster.URL + "/api/v1/namespaces/" + namespace + "/pods"
	if dryRun {
		url += "?dryRun=All"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return 0, false, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := b.client.Do(request)
	if err != nil {
		return 0, false, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, response.Header.Get("Warning") != "", err
}

func (b *bench) run(ctx context.Context, run run) (result, error) {
	out := result{run: run, created: make([]time.Duration, run.creates)}
	if err := b.register(ctx, run.sent); err != nil {
		return out, err
	}
	b.runs++
	namespace := fmt.Sprintf("admission-%d", b.runs)
	if _, err := b.cluster.Client.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
		return out, err
	}
	bodies := make([][]byte, run.creates)
	kinds := make([]pod, run.creates)
	for i := range bodies {
		kinds[i] = pods[i%len(pods)]
		bodies[i] = kinds[i].body(fmt.Sprintf("pod-%d", i))
		if run.sent == everyPod || run.sent == whatMatters && kinds[i].matters {
			out.calls++
		}
	}
	theirsBefore, oursBefore, err := b.metrics(ctx)
	if err != nil {
		return out, err
	}
	var next, denied, warned atomic.Int64
	var workers sync.WaitGroup
	failures := make(chan error, run.clients)
	start := time.Now()
	for range run.clients {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= run.creates {
					return
				}
				begin := time.Now()
				status, warning, err := b.create(ctx, namespace, bodies[i], run.dryRun)
				out.created[i] = time.Since(begin)
				wanted := http.StatusCreated
				if run.sent != nothing && kinds[i].verdict == "denied" {
					wanted = http.StatusForbidden
					denied.Add(1)
				}
				if err == nil && (status != wanted || warning != (run.sent != nothing && kinds[i].verdict == "warned")) {
					err = fmt.Errorf("%s: %d, warnings: %t", kinds[i].name, status, warning)
				}
				if err != nil {
					failures <- err
					return
				}
				if warning {
					warned.Add(1)
				}
			}
		})
	}
	workers.Wait()
	out.seconds = time.Since(start).Seconds()
	select {
	case err := <-failures:
		return out, err
	default:
	}
	out.denied, out.warned = denied.Load(), warned.Load()
	slices.Sort(out.created)
	if run.sent != nothing {
		if err := b.compare(ctx, &out, theirsBefore, oursBefore); err != nil {
			return out, err
		}
	}
	return out, nil
}

// metrics of the API server and of Rankward.
func (b *bench) metrics(ctx context.Context) (theirs, ours harness.Samples, err error) {
	if theirs, err = b.cluster.Metrics(ctx); err == nil {
		ours, err = b.rankward.Metrics()
	}
	return theirs, ours, err
}

func (b *bench) compare(ctx context.Context, out *result, theirsBefore, oursBefore harness.Samples) error {
	theirsAfter, oursAfter, err := b.metrics(ctx)
	if err != nil {
		return err
	}
	mean := func(after, before harness.Samples, name string, labels map[string]string) float64 {
		return (after.Sum(name+"_sum", labels) - before.Sum(name+"_sum", labels)) /
			(after.Sum(name+"_count", labels) - before.Sum(name+"_count", labels))
	}
	var count float64
	out.mean = mean(theirsAfter, theirsBefore, theirs, theirLabels)
	out.p50, count = theirsAfter.Quantile(theirsBefore, 0.5, theirs, theirLabels)
	out.p99, _ = theirsAfter.Quantile(theirsBefore, 0.99, theirs, theirLabels)
	if int64(count) != out.calls {
		return fmt.Errorf("the API server called the webhook %.0f times, want %d", count, out.calls)
	}
	first := harness.With(theirLabels, "le", "0.005")
	out.within5ms = (theirsAfter.Sum(theirs+"_bucket", first) - theirsBefore.Sum(theirs+"_bucket", first)) / count
	out.ownMean = mean(oursAfter, oursBefore, ours, ourLabels)
	out.ownP99, _ = oursAfter.Quantile(oursBefore, 0.99, ours, ourLabels)
	return nil
}

// body of a create.
func (p pod) body(name string) []byte {
	made := p.make()
	made.APIVersion, made.Kind, made.Name = "v1", "Pod", name
	text, err := json.Marshal(made)
	if err != nil {
		panic(err) // of a value of our own
	}
	return text
}
