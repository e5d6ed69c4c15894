package main

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"text/template"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// newCall writes a file to start from. It is valid from the start, so a later fault comes from a
// change; make test refuses what you still have to write.
type newCall struct {
	Experiment newExperiment `cmd:"" help:"lab/experiments/NAME.toml: what to compare, and the claims."`
	Entry      newEntry      `cmd:"" help:"content/journal/NAME.md: the story of experiments."`
}

//go:embed new
var templates embed.FS

// fill gives the text of a template.
func fill(name string, with any) ([]byte, error) {
	var b bytes.Buffer
	t, err := template.ParseFS(templates, "new/"+name)
	if err == nil {
		err = t.Execute(&b, with)
	}
	return b.Bytes(), err
}

// create writes a new file of the journal, and refuses one that is none of its kind or for which the
// call has not what it takes.
func create(out io.Writer, text func(*archive.Journal) (path string, data []byte, err error)) (int, error) {
	j, err := open()
	if err != nil {
		return exitFailed, err
	}
	path, data, err := text(j)
	if err != nil {
		return exitFailed, err
	}
	name := j.Root.Rel(path)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return exitFailed, errors.Join(err, fmt.Errorf("%s is there already; it was not changed", name))
	}
	if err := results.Replace(j.Root.Scratch(), path, data); err != nil {
		return exitFailed, err
	}
	fmt.Fprintf(out, "wrote %s\n", name)
	return exitHeld, nil
}

var (
	entryWord = regexp.MustCompile(`^([0-9]{2}[a-z]?|[a-z]{3,})$`)                        // the number of an entry of the series, or a study's word
	entryName = regexp.MustCompile(`^([0-9]{2}[a-z]?|[a-z]{3,})-[a-z0-9]+(-[a-z0-9]+)*$`) // of an entry's file
)

type newExperiment struct {
	Name  string `arg:"" help:"Its name, as 12-compression."`
	Entry string `placeholder:"ENTRY" help:"The entry that it belongs to (default: the name up to its first hyphen)."`
}

func (c *newExperiment) do(_ context.Context, out io.Writer) (int, error) {
	if c.Entry == "" {
		c.Entry, _, _ = strings.Cut(c.Name, "-")
	}
	if !entryWord.MatchString(c.Entry) {
		return exitFailed, fmt.Errorf("entry %q: give a number of two digits, as 12 or 06b, or a study's word", c.Entry)
	}
	return create(out, func(j *archive.Journal) (path string, text []byte, err error) {
		if text, err = fill("experiment.toml", c); err == nil {
			_, err = experiment.Parse(c.Name, text)
		}
		return j.Root.Experiment(c.Name), text, err
	})
}

type newEntry struct {
	Name string `arg:"" help:"Its file's name, as 12-compression; a study's begins with its word."`
}

func (c *newEntry) do(_ context.Context, out io.Writer) (int, error) {
	if !entryName.MatchString(c.Name) {
		return exitFailed, fmt.Errorf("entry %q: give the number or the word, a hyphen, and words in lower case, as "+
			"12-compression", c.Name)
	}
	entry, _, _ := strings.Cut(c.Name, "-")
	return create(out, func(j *archive.Journal) (string, []byte, error) {
		xs := strict.Filter(j.Experiments, func(x *experiment.Experiment) bool { return x.Entry == entry })
		if len(xs) == 0 {
			return "", nil, fmt.Errorf("no experiment belongs to entry %q; write one first: lab new experiment %s", entry, c.Name)
		}
		text, err := fill("entry.md", map[string]any{"Entry": entry, "Number": entry[0] <= '9',
			"Date": time.Now().UTC().Format(time.DateOnly), "Experiments": xs})
		return j.Root.Entry(c.Name), text, err
	})
}
