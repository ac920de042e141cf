package controlplane

import (
	"net/http"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"rankward.io/tests/controlplane/harness"
)

func extenderArgs(names ...string) extenderv1.ExtenderArgs {
	asks := pod("team-a", "train", map[string]string{"nvidia.com/gpu": "1"})
	asks.UID = "6b0e1a52-5f0b-4a3e-9c86-0d2b6c1f7a10"
	return extenderv1.ExtenderArgs{Pod: asks, NodeNames: &names}
}

func review(t *testing.T) admissionv1.AdmissionReview {
	t.Helper()
	object := must(t, func() ([]byte, error) {
		return sigsyaml.YAMLToJSON([]byte("apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: team-a}\n" +
			"spec: {containers: [{name: web, image: registry.example/web:1}]}\n"))
	})
	return admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID:       "705ab4f5-6393-11e8-b7cc-42010a800002",
			Kind:      metav1.GroupVersionKind{Version: "v1", Kind: "Pod"},
			Resource:  metav1.GroupVersionResource{Version: "v1", Resource: "pods"},
			Namespace: "team-a", Name: "web", Operation: admissionv1.Create,
			Object: runtime.RawExtension{Raw: object},
		},
	}
}

// Who has no certificate of our CA gets no answer from any verb, only a failed handshake.
func TestVerbsAnswerOnlyToCertificatesOfOurCA(t *testing.T) {
	rankward := installed(t).Rankward
	foreign := must(t, func() (*harness.Authority, error) { return harness.NewAuthority(t.TempDir(), "another CA") })
	// The same name that our CA gives the scheduler: the name alone must not be enough.
	stranger := must(t, func() (harness.KeyPair, error) { return foreign.Issue("stranger", "system:kube-scheduler") })

	type door struct {
		name string
		url  string
		body any
		own  harness.KeyPair
	}
	doors := []door{
		{"filter", rankward.ExtenderURL("filter"), extenderArgs("a", "b"), certificates.Scheduler},
		{"prioritize", rankward.ExtenderURL("prioritize"), extenderArgs("a", "b"), certificates.Scheduler},
		{"preempt", rankward.ExtenderURL("preempt"), extenderv1.ExtenderPreemptionArgs{
			Pod: extenderArgs().Pod, NodeNameToMetaVictims: map[string]*extenderv1.MetaVictims{"a": {}}}, certificates.Scheduler},
		{"validate, strict", rankward.ValidateURL(), review(t), certificates.APIServer},
	}
	for _, d := range doors {
		for _, caller := range []struct {
			name     string
			identity *harness.KeyPair
			answered bool
		}{
			{"no certificate", nil, false},
			{"a certificate of another CA", &stranger, false},
			{"our certificate", &d.own, true},
		} {
			t.Run(d.name+"/"+caller.name, func(t *testing.T) {
				client := must(t, func() (*http.Client, error) { return certificates.HTTPClient(caller.identity, 5*time.Second) })
				defer client.CloseIdleConnections()
				status, body, err := harness.PostJSON(t.Context(), client, d.url, d.body)
				switch {
				case caller.answered && (err != nil || status != http.StatusOK):
					t.Errorf("status %d, %v: %s", status, err, body)
				case !caller.answered && err == nil:
					t.Errorf("answered with status %d: %s", status, body)
				}
			})
		}
	}
	// And the strangers have not disturbed anyone.
	if status, body, err := rankward.Status("/readyz"); err != nil || status != http.StatusOK {
		t.Errorf("/readyz: %d %s %v", status, body, err)
	}
}

// Where the API server has no certificate the webhook answers without one, the verbs never do.
func TestOnlyStrictModeDemandsACertificateOfTheWebhooksCaller(t *testing.T) {
	rankward := must(t, func() (*harness.Rankward, error) {
		return harness.StartRankward(t.Context(), harness.RankwardOptions{
			Name: "rankward-lenient", Dir: cluster.Dir, Certificates: certificates,
			Configuration: `
apiVersion: config.rankward.io/v1alpha1
kind: RankwardConfiguration
doors: [extender, webhook]
tls:
  extender: {}
  webhook: {requireClientCertificate: false}
log: {format: json}
`,
		})
	})
	cluster.Adopt(rankward.Process)
	t.Cleanup(func() { rankward.Stop(30 * time.Second) })
	client := must(t, func() (*http.Client, error) { return certificates.HTTPClient(nil, 5*time.Second) })
	if status, body, err := harness.PostJSON(t.Context(), client, rankward.ValidateURL(), review(t)); err != nil || status != http.StatusOK {
		t.Errorf("validate without a certificate: %d %s %v", status, body, err)
	}
	if status, body, err := harness.PostJSON(t.Context(), client, rankward.ExtenderURL("filter"), extenderArgs("a")); err == nil {
		t.Errorf("filter without a certificate was answered with %d: %s", status, body)
	}
}
