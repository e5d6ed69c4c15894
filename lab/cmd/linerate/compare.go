package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/bench"
	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/scenario"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/tell"
	"github.com/line-rate/line-rate/lab/internal/terminal"
	"github.com/line-rate/line-rate/lab/internal/words"
)

type compareCall struct {
	Servers []string `arg:"" name:"server" help:"NAME=COMMAND with {port} or {addr}, or the address of one that runs; the first is the base."`
	URL     string   `name:"url" placeholder:"PATH" help:"Path that is asked of each server, as '/find?q=a%20b'."`
	Data    *string  `name:"data" short:"d" placeholder:"TEXT|@FILE" help:"Body of the request."`
	scenario.Asking
	TLS         bool           `name:"tls" help:"The servers speak TLS."`
	Connections int            `short:"c" default:"32" placeholder:"N" help:"Open connections to each server (32)."`
	Pipelining  int            `more:"" default:"1" placeholder:"N" help:"Requests in flight on each connection (1)."`
	Rate        int            `placeholder:"N" help:"Requests a second (default: as fast as it goes)."`
	Budget      time.Duration  `default:"90s" placeholder:"DURATION" help:"The longest that it goes on (90s)."`
	Margin      string         `default:"3%" placeholder:"SHARE" help:"What counts as the same (3%)."`
	FailAbove   *float64       `placeholder:"RATIO" help:"Exit with 4 if CPU a request is above it, as 1.05."`
	Base        string         `placeholder:"REVISION" help:"Compare this git revision with another one."`
	Head        string         `placeholder:"REVISION" help:"The other revision (default: the working tree)."`
	Build       string         `placeholder:"COMMAND" help:"What builds each of the two, as 'make server'."`
	Rates       string         `placeholder:"RATES" help:"Also the latency at these rates, as 10%..90%."`
	Why         bool           `help:"Also say of what kind of work the difference is."`
	Warmup      *time.Duration `more:"" placeholder:"DURATION" help:"Load on each server after each fresh start that does not count (default: as long as it takes until its CPU a request is steady)."`
	Prepare     string         `more:"" placeholder:"COMMAND" help:"A command that runs to its end before each start of a server, as one that fills its database."`
	Ready       time.Duration  `more:"" default:"20s" placeholder:"DURATION" help:"How long a server may take until it answers as expected (20s)."`
	Different   bool           `more:"" name:"allow-different-answers" help:"Go on although the answers differ."`
	Port        int            `more:"" placeholder:"N" help:"Port of the first server; others have those above (default: free ones)."`
	Seed        uint64         `more:"" placeholder:"N" help:"Seed of the order of slots (default: drawn anew)."`
	outputs
}

// options checks the flags.
func (c *compareCall) options() (o bench.Options, err error) {
	asked, err := c.Asked(c.URL, c.Data)
	if err != nil {
		return o, err
	}
	o = bench.Options{Path: asked.Requests[0].Path, Close: asked.Close || c.NoKeepalive,
		Connections: c.Connections, Pipelining: c.Pipelining, Rate: c.Rate, Budget: c.Budget,
		Steady: c.Warmup == nil, Different: c.Different, Ready: c.Ready, Why: c.Why}
	if c.Warmup != nil {
		o.Warmup = *c.Warmup
	}
	if !asked.IsPlain() {
		o.Requests = asked.Requests
	}
	if err := c.check(); err != nil {
		return o, err
	}
	if o.Prepare, err = strict.Words(c.Prepare); err != nil {
		return o, fmt.Errorf("--prepare: it %w", err)
	}
	if c.Rates != "" {
		if o.Rates, err = bench.ParseRates(c.Rates); err != nil {
			return o, fmt.Errorf("--rates %w", err)
		}
	}
	if c.FailAbove != nil {
		if o.FailAbove = *c.FailAbove; o.FailAbove == 0 {
			return o, errors.New("--fail-above 0: each ratio is above it; give one such as 1.05")
		}
	}
	switch {
	case c.Base != "":
		o.Servers, err = bench.ParseRevisions(c.Servers)
	case c.Head != "" || c.Build != "":
		err = errors.New("--head and --build go with --base, which names the revision to compare with")
	default:
		o.Servers, err = bench.ParseServers(c.Servers)
	}
	if err != nil {
		return o, err
	}
	tls, err := bench.Secure(o.Servers, c.TLS)
	if err != nil {
		return o, err
	}
	if o.Way, err = c.Way(tls, asked); err != nil {
		return o, err
	}
	if o.Margin, err = bench.ParseShare(c.Margin); err != nil {
		return o, fmt.Errorf("--margin %w", err)
	}
	return o, o.Check()
}

func (c *compareCall) do(ctx context.Context, out io.Writer) (int, error) {
	o, err := c.options()
	if err == nil {
		err = onLinux()
	}
	if err != nil {
		return cli.Failed, err
	}
	line := terminal.NewLine(os.Stderr)
	made, err := c.measured(ctx, o, line)
	line.End()
	if ctx.Err() != nil {
		err = errors.New("interrupted; nothing was left behind")
	}
	if made == nil {
		return cli.Failed, err
	}
	made.Typed = typed(os.Args)
	made.Says, made.Exit = tell.Lines(made), made.Status()
	if failed := c.print(out, made); err == nil {
		err = failed
	}
	if err != nil {
		return cli.Failed, err
	}
	return made.Exit, nil
}

// typed is the command line for a shell, without what says how to print and without the path of
// linerate itself.
func typed(args []string) string {
	said := slices.DeleteFunc(slices.Clone(args[1:]), func(word string) bool {
		return slices.Contains([]string{"--json", "-json", "--markdown", "-markdown"}, word)
	})
	return strict.Shell(append([]string{filepath.Base(args[0])}, said...))
}

// measured compares the servers. There may be an outcome and an error.
func (c *compareCall) measured(ctx context.Context, o bench.Options, line *terminal.Line) (*compare.Outcome, error) {
	b := &bench.Bench{Options: o, Port: c.Port, Seed: c.Seed, Say: line.Say,
		Show: func(text string) { line.Show("  "+text, false) }}
	if b.Seed == 0 {
		b.Seed = rand.Uint64N(1 << 53) // so that any JSON reader keeps it exact
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b.Self = []string{self}
	if b.Dir, err = os.Getwd(); err != nil {
		return nil, err
	}
	split, _, err := cores.Here()
	if err != nil {
		return nil, err
	}
	b.ServerCPUs, b.ClientCPUs = split.On()
	if err := b.Place(); err != nil {
		return nil, err
	}
	bench.Sweep()
	_, release, err := proc.LockMachine()
	if err != nil {
		return nil, err
	}
	defer release()
	if c.Base != "" {
		trees, err := b.Build(ctx, c.Base, c.Head, c.Build)
		if err != nil {
			return nil, err
		}
		defer trees.Close()
	}
	debug.SetGCPercent(800) // more memory costs less than a collector that runs during a slot
	debug.SetMemoryLimit(math.MaxInt64)
	runtime.GOMAXPROCS(1) // one thread that samples costs less than several that wake each other
	out, err := b.Compare(ctx)
	if out != nil {
		out.Machine, out.Kernel = machine()
		out.Lab = commit()
		out.Notes = append([]string{where(b)}, out.Notes...)
	}
	return out, err
}

// marks are what stands in a CPU's name beside it.
var marks = regexp.MustCompile(`(?i)\((r|tm|c)\)|\bcpu\b|@.*`)

// machine names the CPU with its cores, and the kernel's version.
func machine() (name, kernel string) {
	name = runtime.GOARCH + " processor" // as on arm64, whose kernel names none
	text, _ := os.ReadFile("/proc/cpuinfo")
	if _, rest, ok := strings.Cut(string(text), "model name"); ok {
		model, _, _ := strings.Cut(strings.TrimLeft(rest, "\t :"), "\n")
		name = strings.Join(strings.Fields(marks.ReplaceAllString(model, " ")), " ")
	}
	version, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("%s, %d cores", name, bytes.Count(text, []byte("processor\t:"))), strings.TrimSpace(string(version))
}

// commit is that of this program's sources, and unknown if they differed from it.
func commit() string {
	if commit, modified := cli.Commit(); commit != "" && !modified {
		return commit
	}
	return "unknown"
}

// where is what to know of the cores that the servers share.
func where(b *bench.Bench) string {
	server, client := cores.Format(b.ServerCPUs), cores.Format(b.ClientCPUs)
	switch n := len(b.ServerCPUs); {
	case b.Running() && !b.Costed():
		return "the client ran on CPU " + client
	case b.Running():
		return fmt.Sprintf("the servers ran where they were put, on CPU %s, and the client on CPU %s; a server that has a core to "+
			"itself is disturbed least (taskset -cp)", server, client)
	case server == client:
		return "server and client share CPU " + client + " here: throughput and latency are of both together, and each request costs what " +
			"sharing adds"
	default:
		return fmt.Sprintf("all servers ran on CPU %s, in turns, and the client on CPU %s: what more than %s gain elsewhere is not "+
			"seen here", server, client, words.Count(n, "worker or thread", "workers or threads"))
	}
}
