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
	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/tell"
)

// outputs are the forms of one comparison's result.
type outputs struct {
	Verbose      bool   `short:"v" help:"Print all figures and notes."`
	JSON         bool   `name:"json" help:"Print JSON, for programs."`
	Markdown     bool   `help:"Print Markdown, for a pull request."`
	JSONFile     string `more:"" name:"json-file" placeholder:"FILE" help:"Also write the JSON to a file."`
	MarkdownFile string `more:"" placeholder:"FILE" help:"Also write the Markdown to a file."`
}

// check refuses files that could not be written in the end.
func (o outputs) check() error {
	if o.JSON && o.Markdown {
		return errors.New("--json and --markdown both print; write one of them to a file with --json-file or --markdown-file")
	}
	for _, path := range []string{o.JSONFile, o.MarkdownFile} {
		if path == "" {
			continue
		}
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

// print prints an outcome, and writes the files; it goes on with the others if one fails.
func (o outputs) print(out io.Writer, made *compare.Outcome) error {
	data, err := asJSON(made)
	comment, text := []byte(tell.Markdown(made)), []byte{}
	switch {
	case o.JSON:
		text = data
	case o.Markdown:
		text = comment
	default:
		for _, line := range tell.Lines(made, o.Verbose) {
			text = append(text, cli.Fit(line, cli.Columns(out))+"\n"...)
		}
	}
	if err == nil {
		_, err = out.Write(text)
	}
	for _, file := range []struct {
		path string
		text []byte
	}{{o.JSONFile, data}, {o.MarkdownFile, comment}} {
		if file.path != "" {
			err = errors.Join(err, strict.Replace(file.path, file.text))
		}
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
