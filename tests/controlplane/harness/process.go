package harness

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Process is a child on this machine whose output goes to one log file.
type Process struct {
	Name    string
	LogPath string

	cmd   *exec.Cmd
	done  chan struct{}
	err   error
	asked atomic.Bool // to end
}

// The kernel kills a child with Pdeathsig when the *thread* that started it ends, so every child is
// started from one thread that lives as long as the program.
var launcher = sync.OnceValue(func() chan func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// StartProcess starts a program; its stdout and stderr are appended to dir/<name>.log.
func StartProcess(dir, name, path string, args ...string) (*Process, error) {
	return startProcess(dir, name, nil, path, args...)
}

func startProcess(dir, name string, env []string, path string, args ...string) (*Process, error) {
	p := &Process{Name: name, LogPath: filepath.Join(dir, name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.LogPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd = exec.Command(path, args...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}

	started := make(chan error)
	launcher() <- func() { started <- p.cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// Exited is closed once the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.done }

// Running tells whether the process has not ended yet.
func (p *Process) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// PID of the child.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends a signal to the child.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Stop asks the process to end, kills it after `patience`, and waits. The error is that of the
// process: nil where it ended with status 0.
func (p *Process) Stop(patience time.Duration) error {
	if !p.Running() {
		return p.err
	}
	p.asked.Store(true)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
	case <-time.After(patience):
		p.cmd.Process.Kill()
		<-p.done
		return fmt.Errorf("%s: killed, it had not ended %s after SIGTERM", p.Name, patience)
	}
	return p.err
}

// Log is everything that the process has written so far.
func (p *Process) Log() string {
	text, err := os.ReadFile(p.LogPath)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// LogTail is the end of the log, for the message of a failure.
func (p *Process) LogTail() string {
	return fmt.Sprintf("--- %s (%s)\n%s", p.Name, p.LogPath, tail(p.Log(), 25))
}

// FreePort asks the kernel for a port of the loopback interface that nobody uses at this moment.
func FreePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// FreePorts returns n different free ports.
func FreePorts(n int) ([]int, error) {
	var ports []int
	for range n {
		// Held until all are known, so that no port is given twice.
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
