package contest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/load"
)

// A started is a server that is up: one that the lab has started by itself, or one that ran already.
type started struct {
	Server
	addr  string
	port  int
	proc  *proc.Proc   // nil: it ran already
	lines atomic.Int64 // printed so far
	lacks atomic.Value // a variable that the caller has, and that the server's output names
}

// named finds what may be a variable's name in a line.
var named = regexp.MustCompile(`\b[A-Z][A-Z0-9_]{2,}\b`)

// hear counts a line, and looks whether it names a variable of the caller's environment,
// which servers do not inherit.
func (on *started) hear(line string) {
	if on.lines.Add(1) > 200 {
		return // it has started, and prints a line for each request
	}
	for _, name := range named.FindAllString(line, -1) {
		if _, have := os.LookupEnv(name); have && !slices.Contains(proc.Environment(), name+"="+os.Getenv(name)) {
			on.lacks.CompareAndSwap(nil, name)
		}
	}
}

// longestWords is how much of what a server printed is repeated.
const longestWords = 200

// start starts a server on loopback, as a run does: on the same cores, and held, so that no
// process of it outlives the lab. dir is where the caller stands, to which the paths in its
// command refer. A server that runs already is left as it is.
func (s Server) start(c Client, dir string, port int) (*started, error) {
	if s.URL != "" {
		return &started{Server: s, addr: s.address()}, nil
	}
	if s.Dir != "" {
		dir = s.Dir
	}
	if err := s.found(dir); err != nil {
		return nil, err
	}
	on := &started{Server: s, addr: net.JoinHostPort(loopback, strconv.Itoa(port)), port: port}
	argv := s.fill(port)
	argv[0] = s.program(dir)
	var err error
	argv = slices.Concat(c.Lab, []string{run.HoldCall}, run.OnCPUs(c.Lab, c.ServerCPUs, argv...))
	on.proc, err = proc.Start(proc.Spec{Dir: dir, Argv: argv, Held: true, Lines: on.hear})
	if err != nil {
		return nil, fmt.Errorf("%s: %s cannot be started: %w", s.Name, s.Command[0], plain(err))
	}
	return on, nil
}

// loopback is where servers listen while they are looked at.
const loopback = "127.0.0.1"

// program is the path of a command's first word, by the caller's directory or by
// PATH.
func (s Server) program(dir string) string {
	word := s.Command[0]
	switch {
	case filepath.IsAbs(word):
		return word
	case strings.Contains(word, "/"):
		return filepath.Join(dir, word)
	}
	if path, err := exec.LookPath(word); err == nil {
		return path
	}
	return word
}

// found refuses a command whose program is not there or cannot be started.
func (s Server) found(dir string) error {
	path := s.program(dir)
	if !strings.Contains(path, "/") {
		return fmt.Errorf("%s: no program %q in PATH; write its path, as ./%s", s.Name, path, path)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: there is no %s; build it first, or correct the path", s.Name, s.Command[0])
	case err != nil:
		return fmt.Errorf("%s: %w", s.Name, err)
	case info.IsDir() || info.Mode()&0o111 == 0:
		return fmt.Errorf("%s: %s is no program that can be started; chmod +x it, or write what runs it before it", s.Name,
			s.Command[0])
	}
	return nil
}

// plain is the kernel's own word for an error, which else names a path or an
// address once more.
func plain(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno
	}
	return err
}

// ready waits until the server answers at all, and says what it does instead.
func (on *started) ready(ctx context.Context, within time.Duration) error {
	if on.proc == nil {
		return nil
	}
	limit := time.Now().Add(within)
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		if conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", on.addr); err == nil {
			conn.Close()
			return on.own()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
		if on.gone() {
			return on.ended()
		}
		if time.Now().After(limit) {
			return on.silent(within)
		}
	}
}

// own refuses a server whose processes are not below the command's: in a container
// for instance, where its CPU time cannot be read as that of the command.
func (on *started) own() error {
	time.Sleep(20 * time.Millisecond) // a launcher that only starts its server ends at once
	if on.gone() {
		return on.ended()
	}
	if slices.Contains(on.listens(), on.port) {
		return nil
	}
	return fmt.Errorf("%s: something answers on %s, but no process of its command listens there (a container, or a "+
		"service that it asked?), so its CPU time cannot be read; start it yourself and give its address as %s=http://%s",
		on.Name, on.addr, on.Name, on.addr)
}

// pids are the server's processes now, as far as they are known.
func (on *started) pids() (all []int) {
	if on.proc != nil {
		return proc.Descendants(on.proc.Pid())[1:] // the first one holds the server
	}
	if on.runs != nil && on.runs.Processes != nil {
		all, _ = on.runs.Processes()
	}
	return all
}

// asked is the server as the generator is told of it, and where to read its CPU time.
func (on *started) asked(o Options) load.Target {
	t := o.target(on.Server, on.addr)
	if on.runs != nil && on.runs.CPUFile != "" {
		t.CPUFile = on.runs.CPUFile
	} else {
		t.Processes = on.pids()
	}
	return t
}

// listens lists the ports on which the server's processes listen.
func (on *started) listens() []int {
	return strict.Called(proc.Listens(proc.Descendants(on.proc.Pid())), func(l proc.Listener) int { return l.Port })
}

// gone tells whether the command has ended, whatever it left running.
func (on *started) gone() bool { return on.proc != nil && on.proc.Gone() }

// ended says how a command ended before its server answered, or while a process
// that it left behind does.
func (on *started) ended() error {
	switch err := on.proc.Err(); {
	case on.proc.ExitCode() == proc.Forked:
		return fmt.Errorf("%s: it went into the background: %s (nginx: -g 'daemon off;')", on.Name, on.proc.LastLine())
	case err != nil:
		return fmt.Errorf("%s: its command ended before it answered (%w)%s", on.Name, err, on.words())
	}
	return fmt.Errorf("%s: its command ended before it answered, without an error%s", on.Name, on.words())
}

// silent says where a server listens that does not answer where it should.
func (on *started) silent(within time.Duration) error {
	if ports := on.listens(); len(ports) > 0 {
		return fmt.Errorf("%s: it listens on port %s and not on %s; put {port} or {addr} where its own option takes them",
			on.Name, strings.Trim(fmt.Sprint(ports), "[]"), on.addr)
	}
	return fmt.Errorf("%s: it did not listen on %s within %v%s", on.Name, on.addr, within, on.words())
}

// words is the last line that the server printed, if any, and what it may lack.
func (on *started) words() string {
	line := strict.Line(strings.TrimSpace(on.proc.LastLine()), longestWords)
	if line == "" {
		return "; it printed nothing"
	}
	if name, ok := on.lacks.Load().(string); ok {
		line += fmt.Sprintf(" (servers do not inherit your %s; begin the command with env %s=…)", name, name)
	}
	return ": " + line
}

// stopWithin is how long a server may take to end by itself.
const stopWithin = 3 * time.Second

// stop ends the server and whatever of it is left.
func (on *started) stop() {
	if on.proc == nil {
		return
	}
	first := on.proc.Pid()
	if below := proc.Descendants(first); len(below) > 1 {
		first = below[1] // the server, and not what holds it
	}
	_ = on.proc.Stop(first, stopWithin)
}

// FreePorts finds so many ports in a row that nothing listens on, below those from
// which the kernel takes a connection's own end: a client's connections would
// else take a server's port between two of its starts.
func FreePorts(n int) (first int, err error) {
	low, high := 20_000, ephemeral()
	if high-low < 100*n {
		low, high = 1024, max(high, 1024+100*n)
	}
	for range 100 {
		if first = low + rand.IntN(high-low-n); Listenable(first, n) == nil {
			return first, nil
		}
	}
	return 0, fmt.Errorf("no %d free ports in a row on %s; name the first of some with --port", n, loopback)
}

// ephemeral is the first port that the kernel may give to the client's end of a
// connection.
func ephemeral() int {
	text, _ := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	var first, last int
	if _, err := fmt.Sscan(string(text), &first, &last); err != nil {
		return 32_768
	}
	return first
}

// Listenable refuses so many ports if a server could not listen on one of them.
func Listenable(first, n int) error {
	for p := first; p < first+n; p++ {
		l, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(p)))
		if err != nil {
			return unlistenable(p, err)
		}
		l.Close()
	}
	return nil
}

func unlistenable(port int, err error) error {
	why := "is taken; stop what listens there,"
	if errors.Is(err, syscall.EACCES) {
		why = "is for root only, as low ports are;"
	}
	return fmt.Errorf("port %d %s choose another with --port, or leave it out for free ones", port, why)
}
