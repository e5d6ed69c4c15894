package tune

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// Ready is the line that a hold prints once all values are written and read
// back.
const Ready = "tune ready"

// hold applies the changes, waits, and restores exactly what it applied.
func (c *Call) hold(m *machine, changes []change, out, errs io.Writer) error {
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
