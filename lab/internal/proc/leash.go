// Package proc starts processes that do not outlive the lab.
//
// The kernel does as much of the clean-up as it can. It kills a process on a
// leash when the lab dies, however the lab dies; Stop ends the process in good
// order before that. A process that its scripts put into a wire's namespaces
// also dies with the wire. The lab decides a process's environment: of the
// caller's it passes on only the variables in Passed, since any other (GOGC,
// NODE_OPTIONS) could change a figure without leaving a trace.
//
// A server may be any program, with children that leave its group or lose their parent.
// Hold starts it, in a process of its own, which has all of them below it.
//
// The kernel's part needs Linux. Elsewhere there is only Stop, and the lab
// refuses to measure anyway.
package proc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A Spec is a command line to start, with its directory.
type Spec struct {
	Dir    string
	Argv   []string
	Env    []string     // added to Environment
	Stdin  io.Reader    // nil: no input
	Stdout io.Writer    // nil: read as lines, like standard error
	Lines  func(string) // called for each line of standard error; nil: nobody is
	// Held says that the command is one that calls Hold, or another that ends with its
	// input, which is then the lab's: Stdin is not used, and the lab's death does not kill it.
	Held bool
	// Apart are attributes of a process in namespaces of its own, in place of those that a process has here. It has to be in
	// a group of its own too.
	Apart *syscall.SysProcAttr
}

// Passed names the caller's variables that every process gets: without PATH no
// script finds its programs.
var Passed = []string{"PATH"}

// Environment is a process's whole environment, without what its Spec adds. Messages
// and numbers have one form, whatever language the caller has.
func Environment() []string { return append(Caller(Passed...), "LC_ALL=C") }

// Caller gives the named variables that the caller has, in the form of
// Spec.Env, for a process that needs to know where the caller's files are.
func Caller(names ...string) []string {
	env := []string{}
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// Exit statuses that are not a command's own: the last two are those of a shell.
const (
	Forked   = 95  // of Hold: it ended in good order and left processes running
	NotFound = 127 // starting it failed
	bySignal = 128 // and the signal's number
)

// A Proc is a started process.
type Proc struct {
	cmd      *exec.Cmd
	lines    func(string)
	done     chan struct{}
	err      error
	lifeline *os.File      // of a held command
	ended    chan struct{} // closed when a held command itself has ended

	last    atomic.Value // line of its standard error
	partial string       // one that has no end yet
}

// starter owns the one thread that starts processes. For the kernel the
// "parent" is the thread that started the child, so this thread must live as
// long as the lab.
var starter = sync.OnceValue(func() chan func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// Start starts a process in a process group of its own, so that a terminal's
// Ctrl-C reaches only the lab, which then ends the process in order.
func Start(s Spec) (*Proc, error) {
	p := &Proc{cmd: exec.Command(s.Argv[0], s.Argv[1:]...), lines: s.Lines, done: make(chan struct{}), ended: make(chan struct{})}
	p.cmd.Dir = s.Dir
	p.cmd.Env = append(Environment(), s.Env...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = s.Stdin, s.Stdout, hearer{p}
	if s.Stdout == nil {
		p.cmd.Stdout = p.cmd.Stderr
	}
	p.cmd.SysProcAttr = cmp.Or(s.Apart, attributes(s.Held))
	// A grandchild may keep the pipes open after the child has ended.
	p.cmd.WaitDelay = 2 * time.Second
	if s.Held {
		ours, theirs, err := lifeline()
		if err != nil {
			return nil, err
		}
		defer theirs.Close()
		p.cmd.Stdin, p.lifeline = theirs, ours
	}
	started := make(chan error)
	starter() <- func() { started <- p.cmd.Start() }
	if err := <-started; err != nil {
		_ = p.lifeline.Close() // nil, if nobody holds it
		return nil, err
	}
	if s.Held {
		go func() {
			_, _ = p.lifeline.Read(make([]byte, 1))
			close(p.ended)
		}()
	}
	go func() {
		if p.err = p.cmd.Wait(); errors.Is(p.err, exec.ErrWaitDelay) {
			p.err = nil // a grandchild kept the pipes open
		}
		if p.partial != "" {
			p.hear(p.partial)
		}
		close(p.done)
	}()
	return p, nil
}

// A Failure is the error of a process that failed, whose message is the last line that it wrote to
// standard error.
type Failure struct {
	Status error
	Line   string
}

func (f Failure) Error() string { return cmp.Or(f.Line, f.Status.Error()) }

// Run starts a process and waits for its end, or for the context's: then it ends the process, and its
// error is the context's cause.
func Run(ctx context.Context, s Spec) error {
	p, err := Start(s)
	if err != nil {
		return err
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		_ = p.Stop(p.Pid(), time.Second)
		return context.Cause(ctx)
	}
	if p.Err() != nil {
		return Failure{p.Err(), p.LastLine()}
	}
	return nil
}

// Pid is the process's id.
func (p *Proc) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Proc) Done() <-chan struct{} { return p.done }

// Gone reports whether the process has ended, or the command that it holds.
func (p *Proc) Gone() bool {
	select {
	case <-p.ended:
	case <-p.done:
	default:
		return false
	}
	return true
}

// Err says how an ended process ended: nil for exit status 0.
func (p *Proc) Err() error {
	<-p.done
	return p.err
}

// ExitCode is the exit status of an ended process, -1 if a signal ended it.
func (p *Proc) ExitCode() int {
	<-p.done
	return p.cmd.ProcessState.ExitCode()
}

// LastLine is the last line the process wrote to standard error.
func (p *Proc) LastLine() string {
	line, _ := p.last.Load().(string)
	return line
}

// Stop asks the process pid, which may be a descendant that does the work, to
// end, and after the grace kills the whole group. It returns once the process
// is gone.
func (p *Proc) Stop(pid int, grace time.Duration) error {
	select {
	case <-p.done:
	default:
		_ = syscall.Kill(pid, syscall.SIGTERM) // it may have ended already
		p.await(grace)
	}
	return p.Release(heldWithin)
}

// Release ends the input of a held process, and waits for its end, but no longer than that: then it kills the whole
// group. It returns once the process is gone.
func (p *Proc) Release(within time.Duration) error {
	if p.lifeline != nil { // a held process need not be in the group
		_ = p.lifeline.Close() // a second time it is closed already
		p.await(within)
	}
	// It kills the group in any case: a child may have stayed behind.
	if err := syscall.Kill(-p.Pid(), syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("cannot end process %d: %w", p.Pid(), err)
	}
	<-p.done
	return nil
}

// heldWithin is how long a holder may take to end what it holds.
const heldWithin = 5 * time.Second

// await waits for the process's end, but no longer than that.
func (p *Proc) await(limit time.Duration) {
	select {
	case <-p.done:
	case <-time.After(limit):
	}
}

func (p *Proc) hear(line string) {
	p.last.Store(line)
	if p.lines != nil {
		p.lines(line)
	}
}

// A hearer takes what a process writes, line by line. Package exec writes one piece at a time to a writer of
// both standard output and standard error.
type hearer struct{ p *Proc }

func (h hearer) Write(b []byte) (int, error) {
	lines := strings.Split(h.p.partial+string(b), "\n")
	for _, line := range lines[:len(lines)-1] {
		h.p.hear(line)
	}
	h.p.partial = lines[len(lines)-1]
	return len(b), nil
}
