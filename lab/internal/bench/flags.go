package bench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/load"
)

// Flags say what to compare, under which load, and when it is decided, as package cli reads them.
type Flags struct {
	Named []string `arg:"" name:"server" help:"NAME=COMMAND with {port} or {addr}, or the address of one that runs."`
	URL   string   `name:"url" placeholder:"PATH" help:"Path that is asked, as '/find?q=a%20b'."`
	Data  *string  `name:"data" placeholder:"TEXT|@FILE" help:"Body of the request."`
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

// New is the comparison that flags ask for; it refuses what none can be made with.
func New(f Flags) (b *Bench, err error) {
	b = &Bench{Flags: f}
	if b.Seed == 0 {
		b.Seed = rand.Uint64N(1 << 53) // so that any JSON reader keeps it exact
	}
	if b.Requests, err = f.Asked(f.URL, f.Data); err != nil {
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
	case b.Ready <= 0 || b.Ready > 10*time.Minute:
		return fmt.Errorf("--ready %v: use more than 0s and up to 10m", b.Ready)
	case b.FailAbove != 0 && !(b.FailAbove >= 0.01 && b.FailAbove <= 100):
		return fmt.Errorf("--fail-above %v: give the ratio of CPU a request to the first server's, as 1.05", b.FailAbove)
	case b.AtMost < 0 || b.AtMost > 24*time.Hour:
		return fmt.Errorf("--at-most %v: use 1s to 24h", b.AtMost)
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
