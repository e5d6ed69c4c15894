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
	"sync"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/slots"
)

// A Wire is one that is up.
type Wire struct {
	holder *exec.Cmd
	life   io.WriteCloser // a byte asks for the counts, and its end ends the holder
	gone   chan struct{}  // closed when the holder has ended

	mu     sync.Mutex // of one question and its answer
	said   *json.Decoder
	server int // a thread on each side, by its number outside
	client int
}

// An answer is what the holder says when it has made the wire, and when it is asked.
type answer struct {
	Server, Client int
	slots.Passed
	Why string // it could not
}

// Make makes a wire. The program must answer its own calls by Called.
func Make(s Spec) (*Wire, error) {
	const apart = syscall.CLONE_NEWNET | syscall.CLONE_NEWPID
	var w *Wire
	err := error(syscall.EPERM)
	if os.Geteuid() == 0 {
		w, err = start(s, &syscall.SysProcAttr{Cloneflags: apart})
	}
	if errors.Is(err, syscall.EPERM) {
		w, err = start(s, &syscall.SysProcAttr{Cloneflags: apart | syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}})
	}
	if err != nil {
		return nil, Unavailable{fmt.Sprintf("this machine lets this user make no namespaces (%v); the doctor says what forbids them", err)}
	}
	var a answer
	if err = w.said.Decode(&a); err != nil {
		err = fmt.Errorf("what holds the wire ended before there was one: %w", err)
	} else if a.Why != "" {
		err = Unavailable{a.Why}
	}
	if err != nil {
		w.Down()
		return nil, err
	}
	w.server, w.client = a.Server, a.Client
	return w, nil
}

func start(s Spec, how *syscall.SysProcAttr) (*Wire, error) {
	how.Setpgid = true // so that a terminal's Ctrl-C reaches this program alone
	holder := exec.Command("/proc/self/exe", holdCall, fmt.Sprint(s.LineRateBps), fmt.Sprint(s.BurstBytes), fmt.Sprint(s.QueueS))
	holder.SysProcAttr, holder.Stderr = how, os.Stderr
	life, err := holder.StdinPipe()
	out, wrong := holder.StdoutPipe()
	if err := cmp.Or(err, wrong); err != nil {
		return nil, err
	}
	if err := holder.Start(); err != nil {
		return nil, err
	}
	w := &Wire{holder: holder, life: life, gone: make(chan struct{}), said: json.NewDecoder(out)}
	go func() {
		_, _ = holder.Process.Wait() // the command's own would close what is still to be read
		close(w.gone)
	}()
	return w, nil
}

// Host is the server's address.
func (w *Wire) Host() string { return ServerAddress }

// Server is the command that runs another on the server's side.
func (w *Wire) Server(argv []string) []string { return inside(w.server, argv) }

// Client is the command that runs another on the client's side.
func (w *Wire) Client(argv []string) []string { return inside(w.client, argv) }

func inside(pid int, argv []string) []string {
	return append([]string{"/proc/self/exe", EnterCall, strconv.Itoa(pid), "--"}, argv...)
}

// PID is a thread in the server's network namespace.
func (w *Wire) PID() int { return w.server }

// ClientPID is a thread in the client's.
func (w *Wire) ClientPID() int { return w.client }

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
	w.mu.Lock()
	defer w.mu.Unlock()
	var a answer
	_, err := w.life.Write([]byte{'\n'})
	if err == nil {
		err = w.said.Decode(&a)
	}
	if err == nil && a.Why != "" {
		err = errors.New(a.Why)
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
