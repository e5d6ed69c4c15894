package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/lock"
	"github.com/line-rate/line-rate/lab/internal/progress"
	"github.com/line-rate/line-rate/lab/internal/provenance"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A measurement is what run and reproduce have in common.
type measurement struct {
	size      string
	seed      uint64
	port      int
	host      string
	keepGoing bool
	all       bool
	out       string // of profile: where its files go
}

func (m *measurement) parse(name string, args []string) ([]string, error) {
	fs := flags(name)
	fs.StringVar(&m.size, "size", experiment.Smoke, "")
	fs.Uint64Var(&m.seed, "seed", 0, "")
	fs.IntVar(&m.port, "port", 8083, "")
	fs.StringVar(&m.host, "host", "", "")
	fs.BoolVar(&m.keepGoing, "keep-going", false, "")
	if name == "reproduce" {
		fs.BoolVar(&m.all, "all", false, "")
	}
	if name == "profile" {
		fs.StringVar(&m.out, "out", "", "")
	}
	rest, err := parse(fs, args)
	if err != nil {
		return nil, err
	}
	if m.size != experiment.Smoke && m.size != experiment.Full {
		return nil, fmt.Errorf("--size %q: use smoke or full", m.size)
	}
	if m.port < 1 || m.port > 65535 {
		return nil, fmt.Errorf("--port %d: use 1 to 65535", m.port)
	}
	return rest, nil
}

func runExperiment(ctx context.Context, args []string, out io.Writer) (int, error) {
	var m measurement
	j, x, err := m.one("run", args)
	if err != nil {
		return exitFailed, err
	}
	return m.measure(ctx, j, []*experiment.Experiment{x}, out)
}

// one reads the arguments of a subcommand that takes one experiment.
func (m *measurement) one(name string, args []string) (*journal.Journal, *experiment.Experiment, error) {
	names, err := m.parse(name, args)
	if err != nil {
		return nil, nil, err
	}
	if len(names) != 1 {
		return nil, nil, fmt.Errorf("%s takes one experiment; lab list names them", name)
	}
	j, err := open()
	if err != nil {
		return nil, nil, err
	}
	x, err := j.Experiment(names[0])
	if err == nil && x.Planned != "" {
		err = errors.New(planned(x))
	}
	return j, x, err
}

// planned says in a line why an experiment is not run.
func planned(x *experiment.Experiment) string {
	return fmt.Sprintf("%s is planned and cannot be run yet: %s", x.Name, x.Planned)
}

// runnable are the experiments that are not only planned.
func runnable(xs []*experiment.Experiment) []*experiment.Experiment {
	return slices.DeleteFunc(slices.Clone(xs), func(x *experiment.Experiment) bool { return x.Planned != "" })
}

func reproduce(ctx context.Context, args []string, out io.Writer) (int, error) {
	var m measurement
	entries, err := m.parse("reproduce", args)
	if err != nil {
		return exitFailed, err
	}
	j, err := open()
	if err != nil {
		return exitFailed, err
	}
	xs, err := choose(j.Experiments, entries, m.all)
	if err != nil {
		return exitFailed, err
	}
	for _, x := range xs {
		if x.Planned != "" {
			fmt.Fprintf(os.Stderr, "passed over: %s\n", planned(x))
		}
	}
	if xs = runnable(xs); len(xs) == 0 {
		return exitFailed, errors.New("nothing to run: all that was asked for is planned")
	}
	return m.measure(ctx, j, xs, out)
}

// choose picks the experiments of entries, all of them, or the core set. Those
// that are only planned are among them, so that they can be named.
func choose(xs []*experiment.Experiment, entries []string, all bool) ([]*experiment.Experiment, error) {
	if all && len(entries) > 0 {
		return nil, errors.New("name entries or say --all, not both")
	}
	var known []string
	for _, x := range xs {
		known = append(known, x.Entry)
	}
	for _, e := range entries {
		if !slices.Contains(known, e) {
			return nil, fmt.Errorf("no experiment belongs to entry %q; there are entries %s", e, strings.Join(slices.Compact(known), ", "))
		}
	}
	var chosen []*experiment.Experiment
	for _, x := range xs {
		if all || slices.Contains(entries, x.Entry) || len(entries) == 0 && x.Core {
			chosen = append(chosen, x)
		}
	}
	return chosen, nil
}

// open reads the journal and refuses one with faults: a run on top of them
// could not be judged.
func open() (*journal.Journal, error) {
	root, err := journal.Find(".")
	if err != nil {
		return nil, err
	}
	j, faults, err := journal.Open(root)
	if err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("%s: %w%s", faults[0].Path, faults[0].Err, more(len(faults)-1))
	}
	return j, nil
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more; lab check lists them)", n)
}

func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// claim takes this machine for a load, or says why it cannot be had, and
// divides its cores.
func claim(j *journal.Journal) (split cores.Split, release func(), err error) {
	if runtime.GOOS != "linux" {
		return split, nil, errors.New("the lab measures on Linux only: it reads /proc and pins cores; the site can be built anywhere")
	}
	release, err = lock.Take(j.Root.Scratch())
	if why := syscall.Errno(0); errors.As(err, &why) {
		err = results.Unwritable(j.Root.Scratch(), why)
	}
	if err != nil {
		return split, nil, err
	}
	if split, err = divide(); err != nil {
		release()
	}
	return split, release, err
}

func (m measurement) measure(ctx context.Context, j *journal.Journal, xs []*experiment.Experiment, out io.Writer) (int, error) {
	split, release, err := claim(j)
	if err != nil {
		return exitFailed, err
	}
	defer release()
	h, err := m.profile(j)
	if err != nil {
		return exitFailed, err
	}

	self, err := os.Executable()
	if err != nil {
		return exitFailed, err
	}
	plan := func(x *experiment.Experiment) run.Plan {
		return run.Plan{Root: j.Root, Experiment: x, Size: m.size, Port: m.port, Split: split, Host: h, Lab: []string{self}}
	}
	// What no run can do without is asked for before the first.
	var failed error
	var total time.Duration
	var ready []*experiment.Experiment
	for _, x := range xs {
		err := plan(x).Ready()
		if err == nil {
			err = writable(j.Root, x, h)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", x.Name, err))
			if m.keepGoing {
				continue
			}
			return exitFailed, failed
		}
		ready = append(ready, x)
		total += run.Estimate(x, m.size)
	}
	if xs = ready; len(xs) == 0 {
		return exitFailed, failed
	}
	fmt.Fprintf(os.Stderr, "on %s, at %s size, about %s\n", h.Name, m.size, total.Round(time.Second))
	switch commit, differ := provenance.Differ(string(j.Root)); {
	case commit == provenance.Unknown:
		fmt.Fprintln(os.Stderr, "the results will name no commit, since this is no checkout of the journal's own")
	case len(differ) > 0:
		fmt.Fprintf(os.Stderr, "the results will say that the lab differs from its commit: %s%s\n", differ[0], andMore(len(differ)-1))
	}

	// Memory is cheaper here than a collector that runs beside a trial, and one
	// thread that samples than several that wake each other.
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(math.MaxInt64) // whatever GOMEMLIMIT the caller has
	runtime.GOMAXPROCS(1)
	reporter := progress.New(os.Stderr)
	reporter.Runs = len(xs)
	var done []outcome
	for _, x := range xs {
		seed := m.seed
		if seed == 0 {
			seed = rand.Uint64N(1 << 53) // so that any JSON reader keeps it exact
		}
		p := plan(x)
		p.Seed = seed
		made, err := run.Do(ctx, p, reporter)
		if ctx.Err() != nil {
			failed = fmt.Errorf("%s: interrupted; %w", x.Name, leftBehind(err))
			break
		}
		if err == nil {
			err = keep(j, h, made)
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", x.Name, err))
			if m.keepGoing {
				continue
			}
			break
		}
		done = append(done, outcome{x, made.File, verdict.Decide(x, h, j.Record(x, made.File))})
	}
	report(out, j.Root, done)
	if failed != nil {
		return exitFailed, failed
	}
	return status(done), nil
}

// leftBehind says what an interrupted run left: of files there are none.
func leftBehind(err error) error {
	if left, ok := errors.AsType[run.Unrestored](err); ok {
		return left
	}
	return errors.New("this experiment left nothing behind")
}

// divide splits the cores this process may use.
func divide() (cores.Split, error) {
	allowed, err := allowedCPUs()
	if err != nil {
		return cores.Split{}, err
	}
	groups, err := cores.Groups("/sys/devices/system/cpu", allowed)
	if err != nil {
		return cores.Split{}, err
	}
	return cores.Divide(groups), nil
}

// profile describes this machine, under the name it already has if it has one.
func (m measurement) profile(j *journal.Journal) (*host.Profile, error) {
	h, err := host.Probe()
	if err != nil {
		return nil, err
	}
	if m.host != "" {
		h.ID = m.host
	}
	if known, ok := j.Hosts[h.ID]; ok {
		if !known.Same(*h) {
			return nil, fmt.Errorf("%s describes another machine; choose another name with --host", j.Root.Rel(j.Root.Host(h.ID)))
		}
		return known, nil
	}
	data, err := results.Encode(h)
	if err != nil {
		return nil, err
	}
	if err := results.Decode(data, results.HostSchemaURL, new(host.Profile)); err != nil {
		return nil, fmt.Errorf("this machine's profile: %w", err)
	}
	return h, nil
}

// keep writes a finished run: the host's profile if it is new, the results,
// and what is derived from them.
func keep(j *journal.Journal, h *host.Profile, made *run.Made) (err error) {
	f := made.File
	if _, ok := j.Hosts[h.ID]; !ok {
		data, err := results.Encode(h)
		if err != nil {
			return err
		}
		if err := results.WriteNew(j.Root.Scratch(), j.Root.Host(h.ID), data); err != nil {
			return err
		}
		j.Hosts[h.ID] = h
	}
	x, err := j.Experiment(f.Experiment)
	if err != nil {
		return err
	}
	if err := f.Check(x); err != nil {
		return fmt.Errorf("the lab made a file it would refuse: %w", err)
	}
	data, err := results.Encode(f)
	if err != nil {
		return err
	}
	if err := results.Decode(data, results.SchemaURL, new(results.File)); err != nil {
		return fmt.Errorf("the lab made a file it would refuse: %w", err)
	}
	// The design and the raw profiles first, since the results file names them;
	// and none of them without it.
	var written []string
	defer func() {
		for _, path := range written {
			if err != nil {
				err = errors.Join(err, os.Remove(path))
			}
		}
	}()
	if path := j.Root.Design(x.SHA256); !exists(path) {
		if err := results.WriteNew(j.Root.Scratch(), path, x.Text); err != nil {
			return err
		}
		written = append(written, path)
	}
	for _, name := range slices.Sorted(maps.Keys(made.Raw)) {
		path := j.Root.Profile(name)
		if err := results.WriteNew(j.Root.Scratch(), path, made.Raw[name]); err != nil {
			return err
		}
		written = append(written, path)
	}
	if err := results.WriteNew(j.Root.Scratch(), j.Root.Result(f.Experiment, f.Run), data); err != nil {
		return err
	}
	written = nil
	if err := j.Add(f); err != nil {
		return err
	}
	return j.Derive()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
