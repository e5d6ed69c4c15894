package tune

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
)

// worker is the internal action of the process that does a hold's work. "hold"
// starts it.
const worker = "hold-worker"

// Ready is the line that a hold prints once all values are written and read
// back.
const Ready = "tune ready"

// front starts the worker and lives as long as the hold is wanted. The worker's
// standard input is a pipe that only the front holds open: however the front
// ends, the kernel closes the pipe, and the worker restores.
func (c *Call) front(out, errs io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, append([]string{"tune", c.knob.name, worker}, c.args...)...)
	cmd.Stdout, cmd.Stderr = out, errs
	// In a session of its own, so that a signal to the front's group or terminal
	// does not end the worker.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	unwanted := unwanted()
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		<-unwanted
		pipe.Close()
	}()
	err = cmd.Wait()
	var status *exec.ExitError
	if errors.As(err, &status) {
		// The worker has printed why.
		return Ended{status.ExitCode()}
	}
	return err
}

// Ended is the exit status of a hold's worker, which has printed the reason
// itself.
type Ended struct{ Status int }

func (e Ended) Error() string {
	if e.Status < 0 {
		return "the process that holds the values was killed; restore brings them back"
	}
	return fmt.Sprintf("the process that holds the values ended with %d", e.Status)
}

// unwanted says when a hold is to end: when its standard input ends, or at a
// signal. Signals are caught until the process exits, so that a second one does
// not stop the restoring.
func unwanted() <-chan os.Signal {
	asked := make(chan os.Signal, 8)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		asked <- syscall.SIGHUP
	}()
	return asked
}

// work applies the changes, waits, and restores exactly what it applied.
func (c *Call) work(m *machine, changes []change, out, errs io.Writer) error {
	unwanted := unwanted()
	signal.Ignore(syscall.SIGPIPE) // the reader of its output may be gone
	if _, _, err := c.apply(m, changes, errs); err != nil {
		return err
	}
	fmt.Fprintln(out, Ready)
	<-unwanted
	s, err := open(m, c.options.state)
	if err != nil {
		return err
	}
	defer s.close()
	_, err = s.restore(func(r original) bool {
		return r.Boot == m.boot && slices.Contains(r.Knobs, c.knob.name) &&
			slices.ContainsFunc(changes, func(ch change) bool {
				return ch.target == r.Target && (r.Target.Scope != scopeNamespace || r.Net.is(m.net))
			})
	}, errs)
	return err
}
