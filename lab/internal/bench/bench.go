// Package bench measures, for linerate compare, whether one HTTP server costs more than another:
// two builds of a program, or any programs that answer the same request. Package measure carries
// out the blocks, and package compare says what they tell.
//
//	parse what is asked
//	look: start all servers side by side, compare what they answer, load each until its cost is steady
//	block after block, in an order drawn by lot, until the budget or the verdict
//	assess, and print
//
// One server is in each block twice, under two names, as the A/A control. A comparison bets on each of its blocks, and
// says what was seen in that minute. The look refuses a server that it cannot measure, with a way out. Afterwards only
// a fault refuses a block; a disturbance of the machine becomes a note, and widens the intervals.
//
// Servers that run already are not started afresh for each block, so what differs between two
// starts is not seen. Servers known by their addresses alone get no verdict on cost.
package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/profile/why"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/load"
)

// Flags say what to compare, under which load, and when it is decided, as package cli reads them.
type Flags struct {
	Named []string `arg:"" name:"server" help:"NAME=COMMAND with {port} or {addr}, or the address of one that runs."`
	URL   string   `name:"url" placeholder:"PATH" help:"Path that is asked, as '/find?q=a%20b'."`
	probe.Asking
	TLS         bool           `more:"" name:"tls" help:"The servers speak TLS."`
	Connections int            `short:"c" default:"32" placeholder:"N" help:"Connections to each server (32)."`
	Pipelining  int            `more:"" default:"1" placeholder:"N" help:"Requests in flight on each connection (1)."`
	Rate        int            `more:"" placeholder:"N" help:"Requests a second (default: as fast as it goes)."`
	Budget      time.Duration  `default:"90s" placeholder:"DURATION" help:"How long it may take (90s)."`
	AtMost      time.Duration  `placeholder:"DURATION" help:"How long it may take at the very most."`
	Margin      Share          `default:"3%" placeholder:"SHARE" help:"What counts as the same (3%)."`
	FailAbove   float64        `placeholder:"RATIO" help:"Exit with 4 above this ratio, as 1.05."`
	Base        string         `placeholder:"REVISION" help:"Compare this git revision, as main."`
	Head        string         `more:"" placeholder:"REVISION" help:"With that one (default: the working tree)."`
	Build       string         `placeholder:"COMMAND" help:"What builds each of both, as 'make server'."`
	Rates       Rates          `placeholder:"RATES" help:"Also latency at these rates, as 10%..90%."`
	Why         bool           `help:"Also which kind of work makes the difference."`
	Warmup      *time.Duration `more:"" placeholder:"DURATION" help:"Load on each server after each fresh start that does not count (default: as long as it takes until its CPU a request is steady)."`
	Prepare     string         `more:"" placeholder:"COMMAND" help:"A command that runs to its end before each start of a server, as one that fills its database."`
	Ready       time.Duration  `more:"" default:"20s" placeholder:"DURATION" help:"How long a server may take until it answers as expected (20s)."`
	Different   bool           `more:"" name:"allow-different-answers" help:"Go on although the answers differ."`
	Wait        bool           `more:"" help:"Wait for another comparison on this machine, or a run of the lab, to end."`
	Port        int            `more:"" placeholder:"N" help:"Port of the first server; others have those above (default: free ones)."`
	Seed        uint64         `more:"" placeholder:"N" help:"Seed of the order of slots (default: drawn anew)."`
}

// A Share looks like 3% or 0.03.
type Share float64

// UnmarshalText reads a share above 0 and below 1.
func (s *Share) UnmarshalText(text []byte) error {
	number, percent := strings.CutSuffix(string(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if *s = Share(v); err != nil || !(v > 0 && v < 1) {
		return fmt.Errorf("%q: write a share above 0 and below 100 %%, as 3%% or 0.03", text)
	}
	return nil
}

// A Bench is a comparison on this machine.
type Bench struct {
	Flags
	probe.Requests
	Servers    []*Server
	Way        load.Target // how all are spoken to
	Self       []string    // the command that starts this program anew: see measure.Answer
	ServerCPUs []int       // empty: wherever the servers are
	ClientCPUs []int
	Say        func(format string, args ...any) // a line that stays
	Show       func(text string)                // of how far it is

	vary  bool          // bodies change by themselves
	warm  time.Duration // that each server is loaded after each start before anything counts
	notes []string      // about what came before the first block
}

const (
	loopback    = "127.0.0.1"           // where servers listen that are started here
	leastWarmup = 10 * time.Millisecond // has each connection of a server used before anything counts
)

// New is the comparison that flags ask for; it refuses what none can be made with.
func New(f Flags) (b *Bench, err error) {
	b = &Bench{Flags: f}
	if b.Seed == 0 {
		b.Seed = rand.Uint64N(1 << 53) // so that any JSON reader keeps it exact
	}
	if b.Requests, err = f.Asked(f.URL); err != nil {
		return nil, err
	}
	if _, err := strict.Words(f.Prepare); err != nil {
		return nil, fmt.Errorf("--prepare: it %w", err)
	}
	switch {
	case f.Base != "":
		b.Servers, err = parseRevisions(f.Named)
	case f.Head != "" || f.Build != "":
		err = errors.New("--head and --build go with --base, which names the revision to compare with")
	default:
		b.Servers, err = parseServers(f.Named)
	}
	if err != nil {
		return nil, err
	}
	scheme, rest, _ := strings.Cut(b.Servers[0].URL, "://")
	if f.TLS && scheme == "http" {
		return nil, fmt.Errorf("--tls is for commands and sockets; write https://%s", rest)
	}
	if b.Way, err = f.Way(f.TLS || scheme == "https"); err != nil {
		return nil, err
	}
	return b, b.check()
}

// Running tells whether the servers ran before and keep running.
func (b *Bench) Running() bool { return b.Servers[0].URL != "" }

// Costed tells whether the servers' CPU time can be read.
func (b *Bench) Costed() bool { return !b.Running() || b.Servers[0].Subject != "" }

// level is the error that one interval may have: those of a metric share it.
func (b *Bench) level() float64 { return stats.Alpha / float64(len(b.Servers)-1) }

// check refuses what no comparison can be made with.
func (b *Bench) check() error {
	t := b.target("", loopback+":80")
	if b.AtMost > 0 {
		b.Budget = min(b.Budget, b.AtMost)
	}
	all := load.Plan{Targets: slices.Repeat([]load.Target{t}, len(b.Servers)+1)}
	if err := all.Check(); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "targets/0: "))
	}
	if _, err := t.TLS(); err != nil {
		return err
	}
	switch {
	case b.FailAbove != 0 && !(b.FailAbove >= 0.01 && b.FailAbove <= 100):
		return fmt.Errorf("--fail-above %v: give the ratio of CPU a request to the first server's, as 1.05", b.FailAbove)
	case b.Warmup != nil && (*b.Warmup < 0 || *b.Warmup > time.Minute):
		return fmt.Errorf("--warmup %v: use up to 1m", *b.Warmup)
	case len(b.Rates) > 0 && b.Rate > 0:
		return errors.New("--rates has rates of its own; leave out --rate")
	case b.Running() && b.Prepare != "":
		return errors.New("--prepare runs before a server is started, and these run already; leave it out")
	case !b.Costed() && (b.FailAbove != 0 || b.Why):
		return errors.New("--fail-above and --why need the servers' processes, and an address alone has none here; give " +
			"commands to start, or NAME=pid:PID@HOST:PORT")
	}
	return nil
}

// subject is a server as the engine starts or finds it, at the nth place of a block.
func (b *Bench) subject(s *Server, place int) measure.Subject {
	if s.running != nil {
		return s.running
	}
	addr := net.JoinHostPort(loopback, strconv.Itoa(b.Port+place))
	prepare, _ := strict.Words(b.Prepare) // New has refused what is none
	return &measure.Command{Label: s.Name, Argv: s.fill(addr), Dir: s.Dir, On: b.ServerCPUs, At: addr, Within: b.Ready,
		Prepare: prepare, Quiet: s.chatty, Self: b.Self, Link: measure.Loopback{}}
}

// target is the load of a server at an address.
func (b *Bench) target(name, addr string) load.Target {
	t, host := b.Way, addr
	t.Name, t.Connections, t.Pipelining, t.Rate = name, b.Connections, b.Pipelining, float64(b.Rate)
	if !b.IsPlain() {
		t.Requests = b.Requests
	}
	if socket, ok := strings.CutPrefix(addr, "unix:"); ok {
		t.Unix, host = socket, "localhost"
	}
	// The slash between keeps any path on this server.
	t.URL += host + "/" + strings.TrimPrefix(b.Requests[0].Path, "/")
	return t
}

// plan is what all plans of the engine share. It does not judge faults by connections, of which
// there may be none between two requests. Nor by slots, since in a short one a busy machine may
// answer nothing.
func (b *Bench) plan(subjects []measure.Subject) *measure.Plan {
	p := &measure.Plan{Subjects: subjects, Link: measure.Loopback{}, Self: b.Self, Loader: b.Self, Clock: measure.NewClock(),
		ServerCPUs: b.ServerCPUs, ClientCPUs: b.ClientCPUs, Seed: b.Seed, Unlike: true, Ready: b.Ready,
		Target: func(i int, addr string) load.Target { return b.target(subjects[i].Name(), addr) }}
	for range subjects {
		p.Asked = append(p.Asked, gate.Asked{Generator: gate.HTTPLoad, Pipelining: b.Pipelining, Rate: float64(b.Rate)})
		p.Warmup = append(p.Warmup, max(b.warm, leastWarmup))
	}
	return p
}

// subjects are the servers as the engine has them, each once, at the places of the first block.
func (b *Bench) subjects() (all []measure.Subject) {
	for i, s := range b.Servers {
		all = append(all, b.subject(s, i))
	}
	return all
}

// place divides the cores, and finds the servers that run already, or free ports for those that are started.
func (b *Bench) place() error {
	self, err := os.Executable()
	split, wrong := machine.Here()
	if err = cmp.Or(err, wrong); err != nil {
		return err
	}
	b.Self = []string{self}
	b.ServerCPUs, b.ClientCPUs = split.On()
	for _, s := range b.Servers {
		if s.URL != "" {
			at := strings.TrimPrefix(strings.TrimPrefix(s.URL, "http://"), "https://")
			s.running = &measure.Running{Label: s.Name, At: at}
		}
		if s.Subject != "" {
			if err := s.running.Find(s.Subject); err != nil {
				return err
			}
		}
	}
	if b.Running() {
		all := slices.Concat(strict.Map(b.Servers, func(s *Server) []int { return s.running.Cores() })...)
		b.ServerCPUs = slices.Compact(slices.Sorted(slices.Values(all)))
	}
	n := len(b.Servers) + 1 // what runs beside them in the look, or the control
	if b.Port > 0 {
		return listenable(b.Port, n)
	}
	b.Port, err = freePorts(n)
	return err
}

// Compare looks at the servers and compares them until the answer is known. There may be an outcome and an error.
func (b *Bench) Compare(ctx context.Context) (*compare.Outcome, error) {
	if err := cmp.Or(b.findable(), b.place()); err != nil {
		return nil, err
	}
	release, err := b.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	measure.Settle()
	if b.Base != "" {
		remove, err := b.checkout(ctx)
		if err != nil {
			return nil, err
		}
		defer remove()
	}
	r := &Run{Bench: b, Began: time.Now()}
	b.Say("looking at %s", words.Count(len(b.Servers), "server"))
	beside, err := b.look(ctx)
	if err == nil {
		err = r.prepare(beside)
	}
	if err == nil {
		err = r.Measure(ctx)
	}
	if len(r.Blocks) == 0 {
		return nil, err
	}
	out := r.Assess()
	if err == nil {
		err = b.Curve(ctx, out)
	}
	if err == nil {
		err = b.explain(ctx, out)
	}
	return out, err
}

// findable refuses commands that are not there, before anybody waits for another comparison.
func (b *Bench) findable() error {
	for _, s := range b.Servers {
		if b.Base != "" || b.Prepare != "" || len(s.Command) == 0 {
			continue // a build or --prepare may make it
		}
		if _, err := exec.LookPath(s.Command[0]); err != nil {
			return fmt.Errorf("%s: %w", s.Name, measure.Unstarted(": "+err.Error()))
		}
	}
	return nil
}

// lock takes the lock of the machine, or waits for it if that is asked for.
func (b *Bench) lock(ctx context.Context) (release func(), err error) {
	for said := false; ; said = true {
		release, err = proc.LockMachine()
		held, is := errors.AsType[proc.Locked](err)
		switch {
		case !is:
			return release, err
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case !b.Wait:
			return nil, fmt.Errorf("%s (process %d); --wait", held.Says, held.PID)
		case !said:
			b.Say("waiting: %s (process %d)", held.Says, held.PID)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// explain adds which system calls requests make, and with Why of what kind of work the difference is.
func (b *Bench) explain(ctx context.Context, o *compare.Outcome) error {
	told := func(c compare.Comparison) bool { return c.Verdict != compare.Invalid && c.Verdict != compare.Failing }
	if !b.Costed() || !slices.ContainsFunc(o.Comparisons, told) {
		return nil
	}
	p := b.plan(b.subjects())
	p.Slot, p.Rounds = b.slot(), 8
	show := func(text string) { b.Show(o.Comparisons[0].Says + "; " + text) } // nobody waits for the verdict
	if err := why.Calls(ctx, *p, o, show); err != nil || !b.Why {
		return err
	}
	return why.Add(ctx, *p, o, show)
}
