package main

import (
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// into is where runs are written: the journal, or a place of the same layout outside
// data/ if they are made for trial. A run for trial never locks its claims, since the
// journal does not know of it.
func (b *bench) into() journal.Root {
	if b.Scratch {
		return b.j.Root.Tried()
	}
	return b.j.Root
}

// keep writes a run that was made.
func (b *bench) keep(o *outcome, made *run.Made) error {
	if !b.Scratch {
		return keep(b.j, b.profile, o.x.Text, made, b.clients...)
	}
	return try(b.into(), b.profile, o.x, made, b.clients...)
}

// forget removes what was set aside of a run that is kept now.
func (b *bench) forget(f *results.File) error {
	if b.Scratch {
		return nil
	}
	return forget(b.j.Root, f, "")
}

// try writes a run with its verdicts and its CSV, and what it names.
func try(into journal.Root, h *host.Profile, x *experiment.Experiment, made *run.Made, clients ...*host.Profile) error {
	f := made.File
	said := verdict.Decide(x, h, []verdict.Run{{File: f, Then: x}})
	pages.Fill(said, x)
	files := map[string][]byte{into.Design(x.SHA256): x.Text}
	for path, v := range map[string]any{
		into.Host(h.ID): h, into.Result(f.Experiment, f.Run): f,
		into.Verdict(f.Experiment, f.Run): said,
	} {
		data, err := results.Encode(v)
		if err != nil {
			return err
		}
		files[path] = data
	}
	for _, c := range clients {
		data, err := results.Encode(c)
		if err != nil {
			return err
		}
		files[into.Host(c.ID)] = data
	}
	sheet, err := f.Sheet()
	if err != nil {
		return err
	}
	files[into.Sheet(f.Experiment, f.Run)] = sheet
	for name, raw := range made.Raw {
		files[into.Profile(name)] = raw
	}
	for path, data := range files {
		if err := results.Replace(string(into), path, data); err != nil {
			return err
		}
	}
	return nil
}
