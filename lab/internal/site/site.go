// Package site makes what pages show of the journal's files: one JSON for each experiment (x/NAME.json), one for what
// sentences refer to (numbers.json), one for all else (site.json), and the tables that readers download.
//
// It decides, chooses, rounds and words everything, so that a template only places what it finds. What it makes
// depends on the journal and the lab alone: the same files give the same bytes on any machine at any time. Git holds
// none of these files, so contributions only add files and never conflict.
//
// All figures of a page (picture, table, sentence, badge) come from all evidence of one machine. An evidence is what
// one machine's newest run of an experiment says together with all earlier blocks that count with it.
package site

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
)

// A Site holds the pages' data of one journal.
type Site struct {
	*archive.Journal
	Summaries []Summary // of pages whose words do not go with their evidence

	pages    []*page
	entries  map[string]*Entry               // by number, or a study's word
	machines map[string]string               // the names of all, each unlike any other
	evidence map[string]map[string]*evidence // by experiment and machine
	shown    map[string]*evidence            // by experiment: that which pages show; nil without any
	printed  map[string][]*evidence          // by experiment: the tables of texts that it repeats
	files    map[string][]byte               // by the path in derived/
	x        map[string]*experimentPage      // by experiment
	ledger   [][]string                      // a line for each claim and machine; one without for what none measured
	keys     map[string]map[string]Number    // of references that have a key alone: by subject and key
	queries  map[string]query                // of the other subjects of references
}

// ledger names the columns of ledger.csv.
const ledger = "entry experiment claim kind whose text host run verdict blocks for against ratio low high"

// Make reads the journal and makes its site, without writing it. It ends at the first file with a fault, which it names.
func Make(root journal.Root) (*Site, error) {
	j, faults, err := archive.Open(root)
	if err = Refuse(faults, err); err != nil {
		return nil, err
	}
	s := &Site{Journal: j, machines: host.Names(j.Hosts), entries: map[string]*Entry{},
		evidence: map[string]map[string]*evidence{},
		shown:    map[string]*evidence{}, printed: map[string][]*evidence{}, files: map[string][]byte{},
		x:      map[string]*experimentPage{},
		ledger: [][]string{strings.Fields(ledger)}}
	for _, step := range []func() error{s.readPages, s.decide, s.experiments, s.whole, s.numbers} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Refuse makes an error of the first fault.
func Refuse(faults []archive.Fault, err error) error {
	if err == nil && len(faults) > 0 {
		err = fmt.Errorf("%s: %w (lab check lists all faults)", faults[0].Path, faults[0].Err)
	}
	return err
}

// encode adds a file with a value as JSON.
func (s *Site) encode(path string, v any) error {
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	to.SetIndent("", " ")
	err := to.Encode(v)
	s.files[path] = text.Bytes()
	return err
}

// Write puts the files into their places below derived/, and removes what follows from nothing any more. Directories
// stay, since `hugo server` watches them.
func (s *Site) Write() error {
	for path, text := range s.files {
		path = s.Root.Derived(path)
		if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, 0o644)); err != nil {
			return err
		}
	}
	return journal.Walk(s.Root.Derived(), func(path string) error {
		rel, err := filepath.Rel(s.Root.Derived(), path)
		if err == nil && s.files[filepath.ToSlash(rel)] == nil {
			err = os.Remove(path)
		}
		return err
	})
}
