package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Who asked for what and what admission noted about it, once for each request that changes something;
// no bodies.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  verbs: [get, list, watch]
- level: None
  resources:
  - {group: coordination.k8s.io}
  - {group: "", resources: [events]}
  - {group: events.k8s.io}
- level: Metadata
`

// AuditEvent is what is read of an audit.k8s.io/v1 Event.
type AuditEvent struct {
	AuditID     string            `json:"auditID"`
	Stage       string            `json:"stage"`
	Verb        string            `json:"verb"`
	Annotations map[string]string `json:"annotations"`
}

// AuditLog follows the API server's audit log.
type AuditLog struct {
	path string

	mutex    sync.Mutex
	position int64
	events   map[string]AuditEvent
}

// newAuditLog writes the policy and returns the API server's flags with it.
func newAuditLog(dir string) (*AuditLog, []string, error) {
	policy := filepath.Join(dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, nil, err
	}
	log := &AuditLog{path: filepath.Join(dir, "audit.log"), events: map[string]AuditEvent{}}
	return log, []string{"--audit-policy-file", policy, "--audit-log-path", log.path}, nil
}

// Event is the finished request with the ID that the API server answers in the header Audit-Id. It is
// written after the answer, so this waits a little.
func (l *AuditLog) Event(ctx context.Context, id string) (AuditEvent, error) {
	var event AuditEvent
	err := WaitFor(ctx, "audit event "+id, 10*time.Second, 5*time.Millisecond, func() error {
		if err := l.read(); err != nil {
			return err
		}
		l.mutex.Lock()
		defer l.mutex.Unlock()
		var found bool
		if event, found = l.events[id]; !found {
			return fmt.Errorf("not among %d events", len(l.events))
		}
		return nil
	})
	return event, err
}

// read takes up the whole lines that were added.
func (l *AuditLog) read() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	file, err := os.Open(l.path)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Seek(l.position, io.SeekStart); err != nil {
		return err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	end := bytes.LastIndexByte(text, '\n') + 1
	l.position += int64(end)
	for line := range bytes.Lines(text[:end]) {
		var event AuditEvent
		if err := json.Unmarshal(line, &event); err != nil {
			return fmt.Errorf("%s: %w", l.path, err)
		}
		if event.Stage == "ResponseComplete" {
			l.events[event.AuditID] = event
		}
	}
	return nil
}
