package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/session"
	"github.com/line-rate/line-rate/lab/internal/site"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/wire"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// read reads the journal and finds what is wrong with it, designs whose own budget has no room for what their claims
// take among that.
func read() (*archive.Journal, []archive.Fault, error) {
	root, err := journal.Find(".")
	if err != nil {
		return nil, nil, err
	}
	j, faults, err := archive.Open(root)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range j.Experiments {
		if err := session.Decidable(x); err != nil {
			faults = append(faults, archive.Fault{Path: root.Rel(root.Experiment(x.Name)), Err: err})
		}
	}
	return j, faults, nil
}

// open reads the journal and refuses one with faults: a run added to it could not be judged.
func open() (*archive.Journal, error) {
	j, faults, err := read()
	return j, site.Refuse(faults, err)
}

type checkCall struct{}

func (checkCall) do(_ context.Context, out io.Writer) (int, error) {
	j, faults, err := read()
	if err != nil {
		return exitFailed, err
	}
	var proof archive.Proof
	if len(faults) == 0 {
		if proof, faults, err = j.Prove(); err != nil {
			return exitFailed, err
		}
	}
	for _, f := range faults {
		fmt.Fprintln(out, strict.Lines(fmt.Sprintf("%s: %v", f.Path, f.Err)))
	}
	if len(faults) > 0 {
		return exitFailed, errors.New(words.Count(len(faults), "fault"))
	}
	for _, f := range proof.Open {
		fmt.Fprintf(out, "%s: not proved: %v\n", f.Path, f.Err)
	}
	shown := fmt.Sprintf("%d of %d measured runs, as git shows", len(j.Runs)-len(proof.Open), len(j.Runs))
	if proof.Unchecked != "" {
		shown = "not checked: " + proof.Unchecked
	}
	fmt.Fprintf(out, "written down before they ran: %s\n%d experiments, %d hosts and %d runs are in order\n", shown,
		len(j.Experiments), len(j.Hosts), len(j.Runs))
	return exitHeld, nil
}

type doctorCall struct{}

func (doctorCall) do(_ context.Context, out io.Writer) (int, error) {
	findings, err := machine.Examine(wire.Try)
	if err != nil {
		return exitFailed, err
	}
	return exitHeld, machine.Print(out, findings)
}

type siteCall struct {
	Check bool     `help:"Only make what the pages show, in derived/, and fail where a page's words say more than the evidence."`
	Serve bool     `help:"Serve the pages on loopback, with drafts, and build them again as files change."`
	Hugo  []string `arg:"" optional:"" help:"Further arguments of hugo, after --."`
}

func (c siteCall) do(_ context.Context, out io.Writer) (int, error) {
	root, err := journal.Find(".")
	if err != nil {
		return exitFailed, err
	}
	began := time.Now()
	s, err := site.Make(root)
	if err == nil {
		err = s.Write()
	}
	if err != nil {
		return exitFailed, err
	}
	fmt.Fprintf(out, "%s with %s made in %.1f s\n", words.Count(len(s.Experiments), "experiment"),
		words.Count(len(s.Runs), "run"), time.Since(began).Seconds())
	wrong := 0
	for _, of := range s.Summaries {
		fmt.Fprintln(out, of.Text)
		if of.Wrong {
			wrong++
		}
	}
	switch {
	case c.Check && wrong > 0:
		return exitFailed, fmt.Errorf("%s more than the evidence", words.Count(wrong, "page says", "pages say"))
	case c.Check:
		return exitHeld, nil
	}
	args := []string{"--panicOnWarning", "--cleanDestinationDir"}
	if c.Serve {
		args = []string{"server", "--buildDrafts", "--bind", "127.0.0.1"}
	}
	if err := os.Chdir(string(root)); err != nil {
		return exitFailed, err
	}
	// Hugo takes the place of this process, so that nothing stays behind.
	hugo := root.Path(".tools", "bin", "hugo")
	return exitFailed, fmt.Errorf("%s: %w; make setup installs it", hugo,
		syscall.Exec(hugo, slices.Concat([]string{"hugo"}, args, c.Hugo), os.Environ()))
}
