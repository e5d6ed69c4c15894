package tune

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"syscall"
)

// worker is the action of the process that does a hold's work; "hold" starts
// it, nobody else needs it.
const worker = "hold-worker"

// Ready is the line a hold prints once all is applied and read back.
const Ready = "tune ready"

// front starts the worker and lives as long as the hold is wanted. The worker's
// standard input is a pipe that only the front holds open: however the front
// ends, the kernel closes it, and the worker restores.
func (c *Call) front(out, errs io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"tune", c.knob, worker}
	if c.knob == "nofile" {
		// Whose limits are meant is the front's parent, not the worker's. What
		// the caller said comes later and wins.
		args = append(args, "--pid", strconv.Itoa(os.Getppid()))
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer w.Close()
	cmd := exec.Command(self, append(args, c.args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r, out, errs
	cmd.SysProcAttr = apart()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, asked...)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		r.Close()
		return err
	}
	r.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	closed := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(closed)
	}()
	select {
	case err = <-ended:
	case <-signals:
		w.Close()
		err = <-ended
	case <-closed:
		w.Close()
		err = <-ended
	}
	var status *exec.ExitError
	if errors.As(err, &status) {
		// The worker has said why.
		return Ended{status.ExitCode()}
	}
	return err
}

// Ended is how a hold's worker ended, having said why itself.
type Ended struct{ Status int }

func (e Ended) Error() string {
	if e.Status < 0 {
		return "the process that holds the values was killed; restore brings them back"
	}
	return fmt.Sprintf("the process that holds the values ended with %d", e.Status)
}

// asked are the signals that end a hold.
var asked = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}

// work applies, waits and restores just what it applied.
func (c *Call) work(m *machine, changes []change, out, errs io.Writer) error {
	// Heard to the end, so that a second signal does not stop the restoring;
	// and nobody may be left to read what is said.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, asked...)
	signal.Ignore(syscall.SIGPIPE)
	if err := reach(m, c.of, changes); err != nil {
		return err
	}
	s, err := c.open(m)
	if err != nil {
		return err
	}
	_, err = s.apply(c.knob, c.of, changes, true, errs)
	s.close()
	if err != nil {
		return err
	}
	fmt.Fprintln(out, Ready)
	closed := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(closed)
	}()
	select {
	case <-signals:
	case <-closed:
	}
	if s, err = c.open(m); err != nil {
		return err
	}
	defer s.close()
	_, err = s.restore(func(r original) bool {
		return r.Boot == m.boot && slices.Contains(r.Knobs, c.knob) && slices.ContainsFunc(changes, func(ch change) bool {
			return ch.target == r.Target && (r.Target.Scope != scopeNamespace || r.Net.is(m.net))
		})
	}, errs)
	return err
}
