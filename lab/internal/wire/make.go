package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/slots"
)

// A Wire is one that is up. One goroutine at a time may read it.
type Wire struct {
	holder *exec.Cmd
	life   io.WriteCloser // a byte asks for the counts, and its end ends the holder
	said   *json.Decoder
	gone   chan struct{} // closed when the holder has ended
	sides  answer        // its first
	user   bool          // the holder is in a user namespace of its own
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
	holder := exec.Command("/proc/self/exe", holdCall, string(spec))
	holder.SysProcAttr, holder.Stderr = apart(user), os.Stderr
	life, err := holder.StdinPipe()
	out, wrong := holder.StdoutPipe()
	if err = cmp.Or(err, wrong); err == nil {
		err = holder.Start()
	}
	w := &Wire{holder: holder, life: life, said: json.NewDecoder(out), gone: make(chan struct{}), user: user}
	if err == nil {
		go func() {
			_, _ = holder.Process.Wait() // the command's own would close what is still to be read
			close(w.gone)
		}()
	}
	return w, err
}

// hear waits for what the holder says.
func (w *Wire) hear() (a answer, err error) {
	if err = w.said.Decode(&a); err != nil {
		err = fmt.Errorf("what holds the wire has ended: %w", err)
	} else if a.Why != "" {
		err = Unavailable{a.Why}
	}
	return a, err
}

// Host is the server's address.
func (w *Wire) Host() string { return ServerAddress }

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
func (w *Wire) Gone() <-chan struct{} { return w.gone }

// Lost tells whether the wire has ended.
func (w *Wire) Lost() bool {
	select {
	case <-w.gone:
		return true
	default:
		return false
	}
}

// Read says what has passed since the wire was made.
func (w *Wire) Read() (slots.Passed, error) {
	_, err := w.life.Write([]byte{'\n'})
	var a answer
	if err == nil {
		a, err = w.hear()
	}
	if err != nil {
		return slots.Passed{}, fmt.Errorf("the wire's shapers cannot be read: %w", err)
	}
	return a.Passed, nil
}

// Down ends the wire with all that runs in it. It may be called twice.
func (w *Wire) Down() {
	_ = w.life.Close()
	for range 2 {
		select {
		case <-w.gone:
			return
		case <-time.After(time.Second): // an orphan that nobody reaps keeps the namespace of a holder that is killed
			_ = w.holder.Process.Kill()
		}
	}
}
