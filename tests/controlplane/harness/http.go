package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Status asks the status port (plain HTTP on loopback).
func (r *Rankward) Status(path string) (int, string, error) {
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d%s", r.StatusPort, path))
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), err
}

// ExtenderURL of a verb.
func (r *Rankward) ExtenderURL(verb string) string {
	return fmt.Sprintf("https://127.0.0.1:%d/%s", r.ExtenderPort, verb)
}

// ValidateURL is what the webhook configuration calls.
func (r *Rankward) ValidateURL() string {
	return fmt.Sprintf("https://127.0.0.1:%d/validate?timeout=3s", r.WebhookPort)
}

// PostJSON posts a value and returns status and body.
func PostJSON(ctx context.Context, client *http.Client, url string, value any) (int, []byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return 0, nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, body, err
}
