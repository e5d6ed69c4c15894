package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/capture"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/session"
	"github.com/line-rate/line-rate/lab/internal/terminal"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// longestWindow is the longest window that the lab's server takes a profile of.
const longestWindow = 600

// A profileCall takes profiles: of a server that runs already if --from names one, else
// of an experiment's server, which it starts and loads.
type profileCall struct {
	Experiment string   `arg:"" optional:"" help:"Load each of its conditions once without profiles and once with, and print what they show."`
	From       []string `sep:"none" xor:"from" placeholder:"SOURCE" help:"Profiles of a server that runs, all kinds over one window: http://127.0.0.1:PORT, or the directory of the server's --pprof-sockets; more --from, more processes, merged."`
	Seconds    *int     `placeholder:"N" help:"Length of that window (default 30)."`
	Out        string   `placeholder:"DIR" help:"Where the files go; --from needs it."`
	ports
}

func (c *profileCall) do(ctx context.Context, out io.Writer) (int, error) {
	switch {
	case len(c.From) > 0:
		return c.running(ctx, out)
	case c.Experiment == "":
		return exitFailed, errors.New("profile: name an experiment, or a server that runs with --from")
	case c.Seconds != nil:
		return exitFailed, errors.New("profile: --seconds is the window of a server that runs; give --from, or leave it out")
	}
	return c.started(ctx, out)
}

// started loads each condition of an experiment twice, without profiles and then with
// them, and prints the figures. It adds nothing to the journal: one window decides
// nothing.
func (c *profileCall) started(ctx context.Context, out io.Writer) (int, error) {
	j, x, err := openFor(oneToRun(c.Experiment))
	if err != nil {
		return exitFailed, err
	}
	if c.Out != "" {
		if _, err := capture.Vacant(c.Out); err != nil {
			return exitFailed, fmt.Errorf("profile: --out %w", err)
		}
	}
	s, err := session.Open(j, session.Options{Port: c.first()})
	if err != nil {
		return exitFailed, err
	}
	defer s.Close()
	plan := s.Plan(x)
	if err := plan.Ready(); err != nil {
		return exitFailed, fmt.Errorf("%s: %w", x.Name, err)
	}
	all := x.Conditions()
	done := 0
	wait := func() func() {
		if done == len(all) {
			return func() {}
		}
		what := fmt.Sprintf("profiles of condition %d of %d", done+1, len(all))
		return s.Wait(what, run.ProfileTime(x))
	}
	end := wait()
	err = run.Profiles(ctx, plan, func(p run.Profiled) error {
		end()
		fmt.Fprintf(out, "%s\n%.0f requests a second before, %.0f while profiled (%.1f %%); ", p.Levels.Key(), p.Before,
			p.During, 100*p.During/p.Before)
		printProfiles(out, p.Set)
		fmt.Fprintln(out)
		done++
		if c.Out != "" {
			if err := capture.Write(filepath.Join(c.Out, fmt.Sprintf("c%d", done)), p.Set); err != nil {
				return fmt.Errorf("--out %w", err)
			}
		}
		end = wait()
		return nil
	})
	end()
	switch {
	case ctx.Err() != nil:
		return exitFailed, fmt.Errorf("%s: interrupted; %w", x.Name, session.LeftBehind(err))
	case err != nil:
		return exitFailed, fmt.Errorf("%s: %w", x.Name, err)
	}
	return exitHeld, nil
}

// running takes profiles of a server that runs already, under whatever load it has.
func (c *profileCall) running(ctx context.Context, out io.Writer) (int, error) {
	seconds := *cmp.Or(c.Seconds, new(30))
	switch {
	case c.Experiment != "":
		return exitFailed, fmt.Errorf("profile: unexpected argument %q; say what to profile with --from", c.Experiment)
	case c.Out == "":
		return exitFailed, errors.New("profile: --out is missing; give a directory that does not exist, for the files")
	case seconds < 1 || seconds > longestWindow:
		return exitFailed, fmt.Errorf("profile: --seconds %d; give a whole number from 1 to %d", seconds, longestWindow)
	}
	// Everything that can be refused is refused before the window.
	var sources []capture.Source
	for _, f := range c.From {
		some, err := sourcesOf(f)
		if err != nil {
			return exitFailed, fmt.Errorf("profile: --from %w", err)
		}
		sources = append(sources, some...)
	}
	if _, err := capture.Vacant(c.Out); err != nil {
		return exitFailed, fmt.Errorf("profile: --out %w", err)
	}

	window := time.Duration(seconds) * time.Second
	end := terminal.NewLine(os.Stderr).Wait("profiles of "+words.Count(len(sources), "process", "processes"), window)
	set, err := capture.Capture(ctx, sources, window)
	end()
	if ctx.Err() != nil {
		return exitFailed, errors.New("profile: interrupted; nothing was written")
	}
	if err != nil {
		return exitFailed, fmt.Errorf("profile: %w; nothing was written", err)
	}
	if err := capture.Write(c.Out, set); err != nil {
		return exitFailed, fmt.Errorf("profile: --out %w", err)
	}
	printProfiles(out, set)
	fmt.Fprintf(out, "\nThe files are in %s; go tool pprof -http=127.0.0.1: opens one.\n", c.Out)
	return exitHeld, nil
}

// sourcesOf takes an address, a directory of sockets, or one socket.
func sourcesOf(from string) ([]capture.Source, error) {
	if strings.Contains(from, "://") {
		s, err := capture.URL(from)
		return []capture.Source{s}, err
	}
	info, err := os.Stat(from)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s: no such directory; give http://127.0.0.1:PORT, or the directory of a server's "+
			"--pprof-sockets", from)
	case err != nil:
		return nil, err
	case info.IsDir():
		return capture.Sockets(from)
	case info.Mode()&os.ModeSocket != 0:
		return []capture.Source{capture.Socket(from)}, nil
	}
	return nil, fmt.Errorf("%s: neither a directory nor a socket", from)
}

// must is what was asked of a set of profiles: it was checked when it was made, and has every sample type.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// printProfiles prints a summary of each kind of profile in a set.
func printProfiles(out io.Writer, set *capture.Set) {
	fmt.Fprintf(out, "%s, a window of %s from %s, starts within %.1f ms\n",
		words.Count(set.Processes, "process", "processes"), set.Window, set.Started.UTC().Format("15:04:05 UTC"),
		set.Spread.Seconds()*1e3)
	for _, k := range profiles.Kinds() {
		p := set.Merged[k]
		total := must(profiles.Total(p, k))
		per := float64(must(profiles.FindColumn(p, k.SampleType())).Per)
		fmt.Fprintf(out, "\n%s: %s, %s (and %s of the profiling itself, left out)\n",
			k, inUnit(float64(total)/per, k), words.Count(len(p.Sample), "stack"), inUnit(float64(set.Own[k])/per, k))
		if total == 0 {
			continue
		}
		fmt.Fprintf(out, "by kind of work: %s\n", works(k, p))
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, row := range must(profiles.Costliest(p, k.SampleType(), 10)) {
			// The last column ends the line, so it is not aligned.
			fmt.Fprintf(w, "%s\t%.1f %%\t  %s\n", inUnit(row.Cumulative, k), 100*row.Cumulative*per/float64(total), row.Symbol)
		}
		w.Flush()
	}
}

// works lists the kinds of work by their shares, largest first.
func works(k profiles.Kind, p *profile.Profile) string {
	of := must(profiles.Analyse(k, p)).Work
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(cmp.Compare(of[b], of[a]), strings.Compare(a, b))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %.1f %%", name, 100*of[name])
	}
	return strings.Join(names, ", ")
}

// inUnit writes a value in seconds, bytes or counts as its kind is read.
func inUnit(v float64, k profiles.Kind) string {
	switch k {
	case profiles.CPU, profiles.Mutex, profiles.Block:
		return fmt.Sprintf("%.3f s", v)
	case profiles.Heap, profiles.Allocs:
		return fmt.Sprintf("%.2f MB", v/1e6)
	}
	return words.Count(int(v), "goroutine")
}
