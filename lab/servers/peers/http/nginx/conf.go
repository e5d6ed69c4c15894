package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// A config is what the configuration of nginx depends on.
type config struct {
	Addr, User   string
	Root         bool // whether root starts nginx
	Workers, PID int
	Files        uint64 // how many files a process may have open
	Simple       []byte
	Read         [][]byte // in parts: a word of the configuration may have 4,096 bytes
}

// layout is nginx's configuration. It follows nginx's documentation where that says how
// to be fast, and sets limits so high that no trial meets them: by default nginx closes a
// connection after a thousand requests. It names a user for root only: otherwise the
// workers would change to a user that does not exist where the lab has a namespace of
// users of its own.
//
//go:embed nginx.conf.tmpl
var layout string

// text is the configuration with the bodies of a directory.
func (c config) text(bodies string) ([]byte, error) {
	simple, err := body(bodies, "simple.jsonl")
	if err != nil {
		return nil, err
	}
	read, err := body(bodies, "read-middle.jsonl")
	if err != nil {
		return nil, err
	}
	c.Simple, c.Read = simple, slices.Collect(slices.Chunk(read, 2048))
	var b bytes.Buffer
	t := template.Must(template.New("").Funcs(template.FuncMap{"quoted": quoted}).Parse(layout))
	err = t.Execute(&b, c)
	return b.Bytes(), err
}

func body(bodies, file string) ([]byte, error) {
	path := filepath.Join(bodies, file)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--bodies: %w; make peers writes the bodies", err)
	}
	if bytes.ContainsRune(text, '$') {
		return nil, fmt.Errorf("%s: nginx would take the dollar for the name of a variable", path)
	}
	return bytes.TrimSuffix(text, []byte{'\n'}), nil
}

// quoted writes text as a word of the configuration.
func quoted(text []byte) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(string(text)) + "'"
}
