package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/slots"
)

// A Wire is one that is up. One goroutine at a time may read it.
type Wire struct {
	holder *proc.Talk // a value asks for the counts, and the end of its input ends it
	sides  answer     // its first
	user   bool       // the holder is in a user namespace of its own
}

// An answer is what the holder says when it has made the wire, and when it is asked.
type answer struct {
	Server, Client int // a thread on each side, by its number outside
	slots.Passed
	Why string // it could not
}

// Make makes a wire. The program must answer its own calls by Called.
func Make(s Spec) (*Wire, error) {
	root := os.Geteuid() == 0
	w, err := start(s, !root)
	if root && errors.Is(err, syscall.EPERM) {
		w, err = start(s, true)
	}
	if err != nil {
		return nil, Unavailable{fmt.Sprintf("this machine lets this user make no namespaces (%v); the doctor says what forbids them", err)}
	}
	if w.sides, err = w.hear(); err != nil {
		w.Down()
		return nil, err
	}
	return w, nil
}

// start starts the holder, in a user namespace of its own or not.
func start(s Spec, user bool) (*Wire, error) {
	spec, _ := json.Marshal(s) // numbers, which JSON has
	holder, err := proc.StartTalk(proc.Spec{Argv: []string{"/proc/self/exe", holdCall, string(spec)}, Apart: apart(user)})
	return &Wire{holder: holder, user: user}, err
}

// saysWithin is how long the holder may take to make a wire, or to read its counts.
const saysWithin = time.Minute

// hear waits for what the holder says.
func (w *Wire) hear() (a answer, err error) {
	if err = w.holder.Hear(context.Background(), saysWithin, &a); err != nil {
		err = fmt.Errorf("what holds the wire has ended: %w", err)
	} else if a.Why != "" {
		err = Unavailable{a.Why}
	}
	return a, err
}

// Server is the command that runs another on the server's side.
func (w *Wire) Server(argv []string) []string { return inside(w.sides.Server, argv) }

// Client is the command that runs another on the client's side.
func (w *Wire) Client(argv []string) []string { return inside(w.sides.Client, argv) }

func inside(pid int, argv []string) []string {
	return append([]string{"/proc/self/exe", EnterCall, strconv.Itoa(pid), "--"}, argv...)
}

// Wrappers is how many processes are above a command in the wire: what enters, and where a user namespace
// has to be entered first, what enters from there.
func (w *Wire) Wrappers() int {
	if w.user {
		return 2
	}
	return 1
}

// PID is a thread in the server's network namespace.
func (w *Wire) PID() int { return w.sides.Server }

// ClientPID is a thread in the client's.
func (w *Wire) ClientPID() int { return w.sides.Client }

// Gone is closed when the wire has ended.
func (w *Wire) Gone() <-chan struct{} { return w.holder.Done() }

// Lost tells whether the wire has ended.
func (w *Wire) Lost() bool { return w.holder.Gone() }

// Read says what has passed since the wire was made.
func (w *Wire) Read() (slots.Passed, error) {
	var a answer
	err := w.holder.Tell(struct{}{})
	if err == nil {
		a, err = w.hear()
	}
	if err != nil {
		return slots.Passed{}, fmt.Errorf("the wire's shapers cannot be read: %w", err)
	}
	return a.Passed, nil
}

// Down ends the wire with all that runs in it. A second call does nothing.
func (w *Wire) Down() {
	w.holder.Close()
	for range 2 {
		select {
		case <-w.Gone():
			return
		case <-time.After(time.Second): // an orphan that nobody reaps keeps the namespace of a holder that is killed
			_ = syscall.Kill(w.holder.Pid(), syscall.SIGKILL)
		}
	}
}
