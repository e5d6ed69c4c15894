package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/tell"
	"github.com/line-rate/line-rate/lab/internal/terminal"
)

// outputs are the forms in which one comparison is told.
type outputs struct {
	JSON         bool   `name:"json" help:"Print JSON, for programs."`
	Markdown     bool   `help:"Print Markdown, for a comment on a pull request."`
	JSONFile     string `more:"" name:"json-file" placeholder:"FILE" help:"Also write the JSON to a file."`
	MarkdownFile string `more:"" placeholder:"FILE" help:"Also write the Markdown to a file."`
}

// A form is one of the ways to tell a comparison.
type form func(*compare.Outcome) ([]byte, error)

// files are those asked for, with what is written to each.
func (o outputs) files() map[string]form {
	all := map[string]form{}
	for path, form := range map[*string]form{
		&o.JSONFile:     func(made *compare.Outcome) ([]byte, error) { return asJSON(made) },
		&o.MarkdownFile: func(made *compare.Outcome) ([]byte, error) { return []byte(tell.Markdown(made)), nil },
	} {
		if *path != "" {
			all[filepath.Clean(*path)] = form
		}
	}
	return all
}

// check refuses files that could not be written in the end.
func (o outputs) check() error {
	if o.JSON && o.Markdown {
		return errors.New("--json and --markdown both print; write one of them to a file with --json-file or --markdown-file")
	}
	for path := range o.files() {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a directory; name a file", path)
		}
		f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
		if err != nil {
			return fmt.Errorf("%s cannot be written: %w; name a file in a directory that is there and yours", path, err)
		}
		f.Close()
		os.Remove(f.Name())
	}
	return nil
}

// print prints an outcome, and writes the files.
func (o outputs) print(out io.Writer, made *compare.Outcome) (err error) {
	var text []byte
	switch {
	case o.JSON:
		text, err = asJSON(made)
	case o.Markdown:
		text = []byte(tell.Markdown(made))
	default:
		for _, line := range made.Says {
			text = append(text, terminal.Fit(line, terminal.Columns(out))+"\n"...)
		}
	}
	if err == nil {
		_, err = out.Write(text)
	}
	return errors.Join(err, write(o.files(), made))
}

// write writes files, and goes on with the others if one fails.
func write(files map[string]form, made *compare.Outcome) (err error) {
	for path, form := range files {
		data, failed := form(made)
		if failed == nil {
			failed = strict.Replace(path, data)
		}
		err = errors.Join(err, failed)
	}
	return err
}

func asJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}
