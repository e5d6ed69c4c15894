package main

import (
	"bytes"
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
	"time"

	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/terminal"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A profileCall takes profiles of a server that runs.
type profileCall struct {
	From    []string `sep:"none" required:"" placeholder:"SOURCE" help:"Where its profiles are: http://127.0.0.1:PORT, or the directory of the server's --pprof-sockets; more --from, more processes, merged."`
	Seconds int      `default:"30" placeholder:"N" help:"Length of the window."`
	Out     string   `required:"" placeholder:"DIR" help:"Where the files go."`
}

// do takes profiles under whatever load the server has.
func (c *profileCall) do(ctx context.Context, out io.Writer) (int, error) {
	// Everything that can be refused is refused before the window.
	var sources []profile.Source
	for _, f := range c.From {
		some, err := profile.Sources(f)
		if err != nil {
			return exitFailed, fmt.Errorf("profile: --from %w", err)
		}
		sources = append(sources, some...)
	}
	if err := vacant(c.Out); err != nil {
		return exitFailed, fmt.Errorf("profile: --out %w", err)
	}

	window := time.Duration(c.Seconds) * time.Second
	terminal.NewLine(os.Stderr).Say("taking profiles of %s for %s", words.Count(len(sources), "process", "processes"), words.Duration(window))
	set, err := profile.Take(ctx, sources, window)
	if ctx.Err() != nil {
		return exitFailed, errors.New("profile: interrupted; nothing was written")
	}
	if err != nil {
		return exitFailed, fmt.Errorf("profile: %w; nothing was written", err)
	}
	if err := write(c.Out, set); err != nil {
		return exitFailed, fmt.Errorf("profile: --out %w", err)
	}
	if err := printProfiles(out, set); err != nil {
		return exitFailed, err
	}
	fmt.Fprintf(out, "The files are in %s; go tool pprof -http=127.0.0.1: opens one.\n", c.Out)
	return exitHeld, nil
}

// vacant says why profiles cannot go to a directory: it is there and not empty, or no directory.
func vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty; give a directory that is, or that does not exist", dir)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// write writes a set's profiles to a directory, as <kind>.pb.gz readable by their owner only.
func write(dir string, set *profile.Set) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, k := range profile.Kinds() {
		var b bytes.Buffer
		_ = set.Merged[k].Write(&b) // to memory, where nothing fails
		if err := os.WriteFile(filepath.Join(dir, string(k)+".pb.gz"), b.Bytes(), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// printProfiles prints a line of each kind of profile in a set, with its kinds of work by their shares.
func printProfiles(out io.Writer, set *profile.Set) error {
	fmt.Fprintf(out, "%s, a window of %s from %s\n", words.Count(set.Processes, "process", "processes"), set.Window,
		set.Started.UTC().Format("15:04:05 UTC"))
	for _, k := range profile.Kinds() {
		p, err := profile.Analyse(k, set.Merged[k])
		if err != nil {
			return err
		}
		total := words.Count(int(p.Total), "goroutine")
		switch p.Unit {
		case "s":
			total = fmt.Sprintf("%.3f s", p.Total)
		case "B":
			total = fmt.Sprintf("%.2f MB", p.Total/1e6)
		}
		said := fmt.Sprintf("%s: %s, %s", k, total, words.Count(p.Stacks, "stack"))
		mark := ": "
		for _, name := range slices.SortedFunc(maps.Keys(p.Work), func(a, b string) int {
			return cmp.Or(cmp.Compare(p.Work[b], p.Work[a]), strings.Compare(a, b))
		}) {
			said += fmt.Sprintf("%s%s %.1f %%", mark, name, 100*p.Work[name])
			mark = ", "
		}
		fmt.Fprintln(out, said)
	}
	return nil
}
