package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/audit"
	"github.com/line-rate/line-rate/lab/internal/derive"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

type importCall struct {
	File   string `arg:"" placeholder:"FIGURES.CSV" help:"The table: a line of heads, then a row for each condition. Columns are settings and metrics, units in the heads, as p99 (ms)."`
	Text   string `required:"" placeholder:"ENTRY" help:"The entry whose text printed it: its number, or a study's word."`
	Source string `required:"" placeholder:"WORDS" help:"What was read: its title or address."`
	Date   string `required:"" placeholder:"DAY" help:"When that was published, as 2026-06-12."`
	Place  string `default:"table of results" placeholder:"WORDS" help:"Which table it is."`

	Experiment string   `placeholder:"NAME" help:"Take the rows as trials of this experiment, into data/results. Without it, the figures go into data/texts."`
	Host       string   `placeholder:"NAME" help:"The server's machine, of data/hosts."`
	Client     string   `placeholder:"NAME" help:"The client's, if it is another."`
	As         string   `placeholder:"WORD" help:"Tells this run from others of that day and machine."`
	Topology   string   `default:"fleet" enum:"fleet,loopback,netns" help:"How the machines were joined: fleet, loopback or netns."`
	LineRate   string   `placeholder:"RATE" help:"What the wire carried, as '50 Gbps'."`
	Set        []string `sep:"none" placeholder:"NAME=LEVEL" help:"A setting that is the same in every row, as route=/read; may be repeated."`
	Note       string   `placeholder:"WORDS" help:"What the text leaves open."`
	Warn       []string `sep:"none" placeholder:"METRIC:WORDS" help:"Of a figure that cannot be true, though the text prints it; may be repeated."`

	Column       []string `sep:"none" placeholder:"HEAD=NAME" help:"The setting or metric of a column; metric:workers, where a setting has the name too; may be repeated."`
	Unit         []string `sep:"none" placeholder:"HEAD=UNIT" help:"The unit of a column; may be repeated."`
	DecimalPoint bool     `help:"A point before three digits of a rate or a count is a decimal point."`

	Add     bool `help:"Add to the text, if there is one."`
	Replace bool `help:"Replace the text, or the published run, if there is one."`
	DryRun  bool `name:"dry-run" help:"Print what would be written."`
}

// do carries a printed table over into the journal.
func (c *importCall) do(_ context.Context, out io.Writer) (int, error) {
	if err := belongs(c.Text); err != nil {
		return exitFailed, err
	}
	if day, err := time.Parse(time.DateOnly, c.Date); err != nil || day.After(time.Now().Add(24*time.Hour)) {
		return exitFailed, fmt.Errorf("--date %q: give the day on which it was published, as 2026-06-12", c.Date)
	}
	if c.Add && c.Replace {
		return exitFailed, errors.New("--add and --replace: use one of them")
	}
	data, err := c.table()
	if err != nil {
		return exitFailed, fmt.Errorf("%s: %w", c.File, err)
	}
	j, err := open()
	if err != nil {
		return exitFailed, err
	}
	in, err := c.about(j)
	if err != nil {
		return exitFailed, err
	}
	sheet, err := in.Read(data)
	if err != nil {
		return exitFailed, fmt.Errorf("%s: %w", c.File, err)
	}
	return c.carry(j, in, sheet, out)
}

// table is the file's text, up to a byte more than a table can have.
func (c *importCall) table() ([]byte, error) {
	f, err := os.Open(c.File)
	var data []byte
	if err == nil {
		defer f.Close()
		data, err = io.ReadAll(io.LimitReader(f, audit.MostBytes+1))
	}
	if named := (*os.PathError)(nil); errors.As(err, &named) {
		err = named.Err // the caller has its path
	}
	return data, err
}

// about is what the call says of the table.
func (c *importCall) about(j *archive.Journal) (*audit.Import, error) {
	in := &audit.Import{
		Entry: c.Text, Source: c.Source, Date: c.Date, Place: c.Place, Note: c.Note, Points: c.DecimalPoint, Warnings: c.Warn,
		Settings: setting.Levels{}, Columns: map[string]string{}, Units: map[string]string{},
	}
	in.Topology.Kind = c.Topology
	if in.Note == "" {
		in.Note = "From " + c.Source + ": " + c.Place + "."
	}
	for _, l := range []struct {
		flag string
		said []string
		into map[string]string
	}{{"column", c.Column, in.Columns}, {"unit", c.Unit, in.Units}} {
		for _, s := range l.said {
			i := strings.LastIndex(s, "=")
			if i <= 0 || i == len(s)-1 {
				return nil, fmt.Errorf("--%s %q: write the head, = and what it is", l.flag, s)
			}
			l.into[s[:i]] = s[i+1:]
		}
	}
	for _, s := range c.Set {
		name, level, ok := strings.Cut(s, "=")
		if !ok {
			return nil, fmt.Errorf("--set %q: write a setting, = and its level", s)
		}
		if !slices.Contains(setting.Names(), name) {
			return nil, fmt.Errorf("--set %q: no setting %q; %s", s, name, strict.Instead(name, setting.Names()))
		}
		l, err := audit.Level(name, level)
		if err != nil {
			return nil, fmt.Errorf("--set %q: %w", s, err)
		}
		in.Settings[name] = l
	}
	if c.LineRate != "" {
		rate, err := audit.WireRate(c.LineRate)
		if err != nil {
			return nil, fmt.Errorf("--line-rate: %w", err)
		}
		in.Topology.LineRateBps = rate
	}
	in.Hosts = results.Hosts{Server: c.Host, Client: c.Client}
	if c.Client == "" {
		in.Hosts.Client = c.Host
	}
	if c.Experiment == "" {
		return in, nil
	}
	x, err := j.Experiment(c.Experiment)
	if err != nil {
		return nil, err
	}
	for _, host := range []string{in.Hosts.Server, in.Hosts.Client} {
		switch {
		case host == "":
			return nil, errors.New("--experiment needs --host, the machine that the text names")
		case j.Hosts[host] == nil:
			return nil, fmt.Errorf("no host %q in data/hosts; %s", host, strict.Instead(host, slices.Sorted(maps.Keys(j.Hosts))))
		}
	}
	in.Experiment, in.Run = x, "published-"+c.Date+"-"+c.Host
	if c.As != "" {
		in.Run += "-" + c.As
	}
	return in, nil
}

// carry writes what a table gives, or prints it.
func (c *importCall) carry(j *archive.Journal, in *audit.Import, sheet *audit.Sheet, out io.Writer) (int, error) {
	text := j.Root.Text(c.Text)
	had, err := os.ReadFile(text)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		had = nil
	case err != nil:
		return exitFailed, err
	case c.Replace && in.Experiment == nil:
		had = nil
	case c.Replace, c.Add:
	default:
		return exitFailed, fmt.Errorf("%s is there already; --add adds to it, --replace replaces it", j.Root.Rel(text))
	}
	written, err := sheet.Text(had)
	if err != nil {
		return exitFailed, fmt.Errorf("%s: %w", c.File, err)
	}
	files := []file{{text, written}}
	if in.Experiment != nil {
		run, err := sheet.Run()
		if err != nil {
			return exitFailed, fmt.Errorf("%s: %w", c.File, err)
		}
		path := j.Root.Result(in.Experiment.Name, in.Run)
		if _, err := os.Lstat(path); err == nil && !c.Replace {
			return exitFailed, fmt.Errorf("%s is there already; --replace replaces it, --as WORD names another run of that day", j.Root.Rel(path))
		}
		if err := once(j, in, run); err != nil {
			return exitFailed, err
		}
		files = []file{{path, run}, {text, written}}
	}
	if c.DryRun {
		for _, f := range files {
			fmt.Fprintf(out, "%s:\n%s\n", j.Root.Rel(f.path), f.data)
		}
		return exitHeld, nil
	}
	if err := put(j, files); err != nil {
		return exitFailed, err
	}
	for _, f := range files {
		fmt.Fprintf(out, "wrote %s\n", j.Root.Rel(f.path))
	}
	return exitHeld, nil
}

// once refuses a row that another published run of the experiment has: each figure
// stands once.
func once(j *archive.Journal, in *audit.Import, data []byte) error {
	f := &results.File{}
	if err := results.Decode(data, results.SchemaURL, f); err != nil {
		return err
	}
	for _, r := range j.Runs {
		if r.Source != results.Published || r.Experiment != f.Experiment || r.Run == f.Run || r.Text.Entry != in.Entry {
			continue
		}
		for i, c := range f.Conditions {
			for k, other := range r.Conditions {
				if r.Settings.With(other.Levels).Key() == f.Settings.With(c.Levels).Key() && k < len(r.Trials) && maps.Equal(r.Trials[k].Printed, f.Trials[i].Printed) {
					return fmt.Errorf("%s has the figures of %s already; each figure stands once", j.Root.Rel(j.Root.Result(r.Experiment, r.Run)), c.Levels.Key())
				}
			}
		}
	}
	return nil
}

// A file is one to be written.
type file struct {
	path string
	data []byte
}

// put writes files of the journal, each at once, and derives what follows from them. If
// the journal then has a fault, everything is as it was before.
func put(j *archive.Journal, files []file) (err error) {
	var undo []func() error
	defer func() {
		if err != nil {
			for _, back := range slices.Backward(undo) {
				err = errors.Join(err, back())
			}
		}
	}()
	for _, f := range files {
		was, err := os.ReadFile(f.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = results.WriteNew(j.Root.Scratch(), f.path, f.data)
			undo = append(undo, func() error { return os.Remove(f.path) })
		case err == nil && !bytes.Equal(was, f.data):
			err = results.Replace(j.Root.Scratch(), f.path, f.data)
			undo = append(undo, func() error { return results.Replace(j.Root.Scratch(), f.path, was) })
		}
		if err != nil {
			undo = undo[:max(0, len(undo)-1)]
			return err
		}
	}
	after, err := open()
	if err != nil {
		return err
	}
	return derive.Write(after)
}
