package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// unwritten marks, in what lab new writes, each text that a person has to write.
const unwritten = "TODO:"

// placeholders finds the first text of each file that is still as lab new wrote it.
func placeholders(root journal.Root) (faults []archive.Fault, err error) {
	for _, pattern := range []string{root.Experiment("*"), root.Entry("*"), root.Text("*"), root.Host("*")} {
		files, _ := filepath.Glob(pattern)
		for _, path := range files {
			text, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue // a link to nothing, of which the journal's own checks tell
			}
			if err != nil {
				return nil, err
			}
			before, after, found := bytes.Cut(text, []byte(unwritten))
			if !found {
				continue
			}
			line, _, _ := bytes.Cut(after, []byte("\n"))
			faults = append(faults, archive.Fault{Path: fmt.Sprintf("%s:%d", root.Rel(path), bytes.Count(before, []byte("\n"))+
				1),
				Err: fmt.Errorf("still to be written: %s", strict.Visible(string(bytes.TrimSpace(line)), 80))})
		}
	}
	return faults, nil
}
