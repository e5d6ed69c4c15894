// Command calibrate counts how often linerate compare is right where the truth is known: it
// compares a server with itself, and with one that burns a known share more CPU time a request.
// make calibrate calls it. A pair that was measured is kept, and a call that was cut short goes
// on where it ended.
//
//	calibrate --pairs 20 --shares 0,1,3,10
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/calibration"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/session"
	"github.com/line-rate/line-rate/lab/internal/words"
)

type calls struct {
	Run   run     `cmd:"" default:"withargs" help:"Compare pairs, and write data/calibration/HOST-N.json."`
	Serve serve   `cmd:"" help:"Serve, with a planted cost."`
	Plant planter `cmd:"" hidden:"" help:"Measure what is planted; run calls it on the client's cores."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	call := kong.Parse(&calls{}, kong.Name("calibrate"), kong.BindTo(ctx, (*context.Context)(nil)))
	err := call.Run()
	if ctx.Err() != nil {
		err = errors.New("interrupted; every complete pair is kept, and the same call goes on from there")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(3)
	}
}

// serve answers every request alike, after so many steps of work.
type serve struct {
	Addr  string `required:"" help:"Where to listen."`
	Steps int    `help:"Steps of the loop for each request; one is a multiplication and an addition that wait for the last."`
}

func (s serve) Run() error {
	signal.Reset() // who ends it does not wait
	l, err := net.Listen("tcp", s.Addr)
	if err != nil {
		return err
	}
	answer := []byte(`{"id":17,"name":"Anna","groups":["staff","admin"],"active":true}` + "\n")
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if burn(s.Steps) == 0 { // it never is, which the compiler cannot know
			panic("burnt out")
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}))
}

func burn(steps int) uint64 {
	x := uint64(1)
	for range steps {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// run makes the pairs.
type run struct {
	Pairs    int           `default:"20" help:"Pairs of each share."`
	Shares   []float64     `default:"0,1,3,10" help:"Planted shares, in percent of the CPU time a request."`
	Budget   time.Duration `default:"60s" help:"Of each pair, as linerate compare --budget."`
	Margin   float64       `default:"3" help:"In percent, as linerate compare --margin."`
	Counting time.Duration `default:"60s" help:"How long the plant itself is measured."`
	For      time.Duration `help:"Begin no pair after so long; a later call goes on (default: all are made)."`
	Host     string        `help:"This machine's name in the file (default: its id)."`
	Hosted   bool          `help:"That name is of a kind of machine, which a CI service lends."`
	Linerate string        `default:".tools/bin/linerate" help:"The program that is calibrated."`
}

func (r run) Run(ctx context.Context) error {
	if r.Pairs < 1 || r.Budget < time.Second {
		return errors.New("give one pair or more, and a budget of 1s or more")
	}
	began := time.Now()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	f, path, err := r.begin(ctx, self)
	if err != nil {
		return err
	}
	var todo []calibration.Planted
	for _, p := range f.Plant.Shares {
		todo = append(todo, slices.Repeat([]calibration.Planted{p}, f.Left(p.Share))...)
	}
	// What favours one hour of the day favours no share.
	rand.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
	took := time.Duration(0)
	for i, planted := range todo {
		if r.For > 0 && time.Since(began) > r.For {
			fmt.Printf("%s left for another call\n", words.Count(len(todo)-i, "pair"))
			return nil
		}
		start := time.Now()
		p, says, err := r.pair(ctx, self, planted)
		if err != nil {
			return err
		}
		f.Pairs = append(f.Pairs, p)
		if err := keep(path, f); err != nil {
			return err
		}
		took += time.Since(start)
		left := time.Duration(len(todo) - i - 1)
		fmt.Printf("%d of %d, %s planted: %s (%.0f s); about %s left, %s at most\n", len(f.Pairs), f.Each*len(f.Plant.Shares),
			words.Percent(planted.Share), says, p.DurationS, words.Duration(left*took/time.Duration(i+1)),
			words.Duration(left*(r.Budget+late)))
	}
	return nil
}

// late is how much longer than its budget a pair may take: its last block, and the end.
const late = 10 * time.Second

// begin finds the file of a call that was cut short, or measures the plant for a new one.
func (r run) begin(ctx context.Context, self string) (*calibration.File, string, error) {
	root, err := journal.Find(".")
	if err != nil {
		return nil, "", err
	}
	m, err := session.Identify(&archive.Journal{Root: root}, "/", r.Host)
	if err != nil {
		return nil, "", err
	}
	f := &calibration.File{SchemaVersion: calibration.Version, Host: m.ID, Machine: m.Name, Hosted: r.Hosted,
		Kernel: host.Kernel("/")["osrelease"], Go: runtime.Version(), StartedAt: time.Now().UTC().Format(time.RFC3339),
		Margin: r.Margin / 100, BudgetS: r.Budget.Seconds(), Each: r.Pairs, Programs: map[string]string{},
		Pairs: []calibration.Pair{}}
	f.Commit, f.Dirty = host.Commit(string(root))
	for name, path := range map[string]string{"calibrate": self, "linerate": r.Linerate} {
		if f.Programs[name], err = host.Digest(path); err != nil {
			return nil, "", err
		}
	}
	for n := 1; ; n++ {
		path := root.Calibration(m.ID, n)
		data, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			f.Plant, err = r.plant(ctx, self)
			return f, path, err
		}
		was, err := calibration.Read(path, data)
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", path, err)
		}
		if len(was.Pairs) < was.Each*len(was.Plant.Shares) && was.Asks(f, r.Shares) {
			fmt.Printf("going on with %s, which has %s\n", path, words.Count(len(was.Pairs), "pair"))
			return was, path, nil
		}
	}
}

// pair compares the server with one of a planted cost.
func (r run) pair(ctx context.Context, self string, planted calibration.Planted) (p calibration.Pair, says string, err error) {
	server := func(name string, steps int) string {
		return fmt.Sprintf("%s='%s' serve --addr {addr} --steps %d", name, self, steps)
	}
	cmd := exec.CommandContext(ctx, r.Linerate, "compare", "--json", "--url", "/", "--budget", r.Budget.String(),
		"--margin", fmt.Sprintf("%g%%", r.Margin), server("base", 0), server("head", planted.Steps))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends its servers
	err = cmd.Run()
	if ctx.Err() != nil { // linerate, interrupted as well, says what it had so far, which is no pair
		return p, "", ctx.Err()
	}
	var o compare.Outcome
	if json.Unmarshal(out.Bytes(), &o) != nil || len(o.Comparisons) != 1 {
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		return p, "", fmt.Errorf("linerate compare: %w: %s", err, lines[len(lines)-1])
	}
	c := o.Comparisons[0]
	return calibration.Pair{Share: planted.Share, StartedAt: o.StartedAt, Seed: o.Seed, DurationS: o.DurationS,
		Blocks: o.Blocks, Refused: o.Refused, Verdict: c.Verdict, Ratio: c.CPUPerRequest}, c.Says, nil
}

// keep writes the file whole, so that a call that is cut short leaves that of the pair before.
func keep(path string, f *calibration.File) error {
	data, err := results.Encode(f)
	if err != nil {
		return err
	}
	return results.Replace(filepath.Dir(path), path, data)
}
