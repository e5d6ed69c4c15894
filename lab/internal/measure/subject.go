package measure

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Command is a server that each block starts afresh.
type Command struct {
	Label   string // in messages
	Argv    []string
	Dir     string
	On      []int  // its cores; empty: wherever it is put
	At      string // HOST:PORT where it has to listen
	Process string // name of the processes that count; empty: all that the command starts
	// Line is part of a line that each of Lines processes prints once it listens; empty: it is ready
	// when one of its processes listens.
	Line    string
	Lines   int
	Within  time.Duration // longest wait until it is ready
	Prepare []string      // a command that runs to its end before each start; empty: none
	Quiet   bool          // what it prints goes nowhere, so that a line for each request costs the engine nothing
	Self    []string      // the program that answers the calls
	Link    Link

	proc  *proc.Proc
	tree  *proc.Tree
	ready atomic.Int64
	lacks atomic.Value // a variable that the caller has and the server's output names
	lines atomic.Int64
}

// stopWithin is how long a server may take to end by itself.
const stopWithin = 3 * time.Second

func (c *Command) Name() string { return c.Label }
func (c *Command) Addr() string { return c.At }

// Printed is how many lines the server has printed; 0 of no command.
func (c *Command) Printed() int {
	if c == nil {
		return 0
	}
	return int(c.lines.Load())
}

// Up starts the server and waits until it listens.
func (c *Command) Up(ctx context.Context) error {
	if err := c.prepare(ctx); err != nil {
		return err
	}
	if c.Link.PID() == 0 && answers(c.At) {
		return fmt.Errorf("%s is already in use; stop what listens there, or choose another with --port", c.At)
	}
	argv := c.Argv
	if c.Quiet {
		argv = append([]string{"sh", "-c", `exec "$@" >/dev/null 2>&1`, "sh"}, argv...)
	}
	argv = slices.Concat(c.Self, []string{HoldCall}, OnCPUs(c.Self, c.On, argv...))
	var err error
	c.ready.Store(0)
	if c.proc, err = proc.Start(proc.Spec{Dir: c.Dir, Argv: c.Link.Server(argv), Held: true, Lines: c.hear}); err != nil {
		return fmt.Errorf("%s did not start: %w", c.Label, err)
	}
	wrappers := 1 + c.Link.Wrappers() // with the holder
	c.tree = &proc.Tree{Roots: []int{c.proc.Pid()}, Skip: wrappers, Name: c.Process}
	if err := c.await(ctx); err != nil {
		return fmt.Errorf("%s: %w", c.Label, err)
	}
	return nil
}

// prepare runs the command that comes before the server.
func (c *Command) prepare(ctx context.Context) error {
	if len(c.Prepare) == 0 {
		return nil
	}
	within, cancel := context.WithTimeoutCause(ctx, c.Within, fmt.Errorf("it did not end within %v; --ready gives it more time", c.Within))
	defer cancel()
	if err := proc.Run(within, proc.Spec{Dir: c.Dir, Argv: c.Prepare}); err != nil {
		return fmt.Errorf("%s: --prepare failed (%w)", c.Label, err)
	}
	return nil
}

// variable finds what may be a variable's name in a line.
var variable = regexp.MustCompile(`\b[A-Z][A-Z0-9_]{2,}\b`)

// hear counts a line, and looks whether it says that the server listens, or names a variable of the
// caller's environment, which servers do not inherit.
func (c *Command) hear(line string) {
	if c.Line != "" && strings.Contains(line, c.Line) {
		c.ready.Add(1)
	}
	if c.lines.Add(1) > 200 {
		return // it has started, and prints a line for each request
	}
	for _, name := range variable.FindAllString(line, -1) {
		if _, have := os.LookupEnv(name); have && !slices.Contains(proc.Environment(), name+"="+os.Getenv(name)) {
			c.lacks.CompareAndSwap(nil, name)
		}
	}
}

// strayWithin is how long a server may listen elsewhere only: some open a port for their own
// management first. A launcher that only starts its server ends a moment later, and a server may be seen to
// listen a moment after it answers.
const (
	strayWithin = 2 * time.Second
	moment      = 20 * time.Millisecond
)

// await waits until the server is ready, and says what it does instead. To list sockets the kernel walks through a table of
// all connections, so it tries to connect first.
func (c *Command) await(ctx context.Context) error {
	limit, looked := time.Now().Add(c.Within), time.Now()
	var strayed time.Time // since when it listens elsewhere only
	for wait := time.Millisecond; ; wait = min(wait*5/4, 100*time.Millisecond) {
		if why := c.Gone(); why != nil {
			return why
		}
		if c.Line != "" && c.ready.Load() >= int64(c.Lines) {
			return nil
		}
		if c.Line == "" && (answers(c.At) || time.Since(looked) > strayWithin/4) {
			looked = time.Now()
			if is, err := c.listens(&strayed); is || err != nil {
				return cmp.Or(err, c.Gone())
			}
		}
		if time.Now().After(limit) {
			return fmt.Errorf("it did not listen on %s within %v%s", c.At, c.Within, c.words())
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// listens tells whether one of the server's processes listens where it was asked to, and says what happens there instead.
func (c *Command) listens(strayed *time.Time) (is bool, err error) {
	switch at := proc.Listens(c.tree.PIDs()); {
	case serves(at, c.At):
		time.Sleep(moment)
		return true, nil
	case len(at) == 0 && answers(c.At):
		if time.Sleep(moment); len(proc.Listens(c.tree.PIDs())) == 0 {
			return false, fmt.Errorf("something answers on %s that is no descendant of its command, so its CPU time cannot be read; stop "+
				"what listens there, or name it as %s=cgroup:/PATH@%s or pid:PID@%s", c.At, c.Label, c.At, c.At)
		}
	case len(at) == 0:
		*strayed = time.Time{}
	case strayed.IsZero():
		*strayed = time.Now()
	case time.Since(*strayed) > strayWithin:
		way := "put {port} or {addr} where its own option takes it"
		if slices.ContainsFunc(at, func(l proc.Listener) bool { return l.Port == port(c.At) }) {
			way = "have it listen on 127.0.0.1, with {addr} or {host} as the value of its own option"
		}
		return false, fmt.Errorf("it listens on %s and was asked on %s; %s", strings.Join(strict.Map(at, proc.Listener.String), " and "), c.At, way)
	}
	return false, nil
}

// answers tells whether something takes connections at an address.
func answers(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, 100*time.Millisecond)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// serves tells whether a server that listens so answers at an address.
func serves(on []proc.Listener, addr string) bool {
	host, text, _ := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return slices.ContainsFunc(on, func(l proc.Listener) bool {
		return strconv.Itoa(l.Port) == text && (l.IP.IsUnspecified() || l.IP.Equal(ip))
	})
}

// CPU reads the clocks of the server's processes.
func (c *Command) CPU() Clocks {
	if c.tree == nil {
		return Clocks{}
	}
	return Clocks{true, c.tree.Read()}
}

// Gone says how the command ended; nil while it runs.
func (c *Command) Gone() error {
	if !c.proc.Gone() {
		return nil
	}
	<-c.proc.Done() // soon, since its holder ends what it has left
	switch {
	case c.proc.ExitCode() == proc.Forked:
		return fmt.Errorf("it went into the background: %s (nginx: -g 'daemon off;')", c.proc.LastLine())
	case c.proc.ExitCode() == proc.NotFound:
		return Unstarted(c.words())
	case c.proc.Err() != nil:
		return fmt.Errorf("its command ended (%w)%s", c.proc.Err(), c.words())
	}
	return fmt.Errorf("its command ended, without an error%s", c.words())
}

// Unstarted says that a command cannot be started, why, and the way out.
func Unstarted(why string) error {
	return fmt.Errorf("its command cannot be started%s; build it first, correct the path, or chmod +x it", why)
}

// longestWords is how much of what a server printed is repeated.
const longestWords = 200

// words is the last line that the server printed, and what it may lack.
func (c *Command) words() string {
	line := strict.Line(strings.TrimSpace(c.proc.LastLine()), longestWords)
	if line == "" {
		return "; it printed nothing"
	}
	if name, ok := c.lacks.Load().(string); ok {
		line += fmt.Sprintf(" (servers do not inherit your %s; begin the command with env %s=…)", name, name)
	}
	return ": " + line
}

// Down ends the server with all its processes.
func (c *Command) Down() {
	if c.proc == nil {
		return
	}
	first := c.proc.Pid()
	if own := c.tree.PIDs(); len(own) > 0 {
		first = own[0]
	}
	_ = c.proc.Stop(first, stopWithin)
	c.proc, c.tree = nil, nil
}

// port is the port of an address; 0 of a socket's path.
func port(addr string) int {
	_, text, err := net.SplitHostPort(addr)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(text)
	return n
}
