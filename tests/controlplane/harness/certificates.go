package harness

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// Certificates of the product and its two callers, made as a user would make them.
type Certificates struct {
	Dir       string
	CAFile    string
	Server    KeyPair // both doors
	Scheduler KeyPair // client of the extender's verbs
	APIServer KeyPair // client of /validate
}

// DevelopmentCertificates runs certs/make-development-ca.sh into dir. Files that exist are kept.
func DevelopmentCertificates(root, dir string) (Certificates, error) {
	script := filepath.Join(root, "certs", "make-development-ca.sh")
	output, err := exec.Command(script, "--out", dir).CombinedOutput()
	if err != nil {
		return Certificates{}, fmt.Errorf("%s: %w\n%s", script, err, output)
	}
	pair := func(name string) KeyPair {
		return KeyPair{filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")}
	}
	c := Certificates{Dir: dir, CAFile: filepath.Join(dir, "ca.crt"), Server: pair("server"),
		Scheduler: pair("scheduler-client"), APIServer: pair("apiserver-client")}
	for _, file := range []string{c.CAFile, c.Server.CertFile, c.Scheduler.KeyFile, c.APIServer.KeyFile} {
		if !exists(file) {
			return c, fmt.Errorf("%s did not make %s", script, file)
		}
	}
	return c, nil
}

// HTTPClient speaks to the product. identity nil presents no client certificate.
func (c Certificates) HTTPClient(identity *KeyPair, timeout time.Duration) (*http.Client, error) {
	pem, err := os.ReadFile(c.CAFile)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: no certificate", c.CAFile)
	}
	config := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	if identity != nil {
		pair, err := tls.LoadX509KeyPair(identity.CertFile, identity.KeyFile)
		if err != nil {
			return nil, err
		}
		// Presented whatever CAs the server says it accepts: the server has to refuse it itself.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &pair, nil
		}
	}
	return &http.Client{Timeout: timeout, Transport: &http.Transport{
		TLSClientConfig: config, MaxIdleConnsPerHost: 64,
	}}, nil
}
