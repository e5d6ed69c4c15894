package derive

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/judge"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A board is a public board as it was on a day: data/boards/ID.toml, with its tables beside it as CSV.
type board struct {
	Title      string       `toml:"title"`
	Repository string       `toml:"repository"`
	Commit     string       `toml:"commit"`
	Date       string       `toml:"date"` // of the figures
	Licence    string       `toml:"licence"`
	Sources    []string     `toml:"sources"` // files of the repository
	Note       string       `toml:"note"`
	Tables     []boardTable `toml:"tables"`
}

// A boardTable is figures that were made in one way.
type boardTable struct {
	File  string `toml:"file"`  // without .csv
	Tool  string `toml:"tool"`  // the load generator
	Added string `toml:"added"` // why its latencies are not those of the requests alone
	Means bool   `toml:"means"` // each figure is a mean of its own over several runs
	Note  string `toml:"note"`
}

// A judgedTable is what became of a table, in figures and as pages print them.
type judgedTable struct {
	Board  string            `json:"board"`
	Date   string            `json:"date"`
	Tool   string            `json:"tool"`
	Values map[string]int    `json:"values"`
	Shown  map[string]string `json:"shown"`
}

// loadBoard reads and judges the tables that a file names.
func loadBoard(path string) (map[string]judgedTable, error) {
	var b board
	data, err := strict.ReadUpTo(path, strict.MostWritten)
	if err == nil {
		err = strict.DecodeTOML(data, &b)
	}
	if err != nil {
		return nil, err
	}
	for name, text := range map[string]string{"title": b.Title, "repository": b.Repository, "commit": b.Commit, "date": b.Date,
		"licence": b.Licence} {
		if text == "" {
			return nil, fmt.Errorf("%s: missing", name)
		}
	}
	out := map[string]judgedTable{}
	for _, t := range b.Tables {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(path), t.File+".csv"))
		if err != nil {
			return nil, err
		}
		of, err := judge.Of(t.File, text, judge.Options{Averaged: t.Means, Added: t.Added})
		if err != nil {
			return nil, err
		}
		if n := of.Of[judge.Unread]; n > 0 {
			return nil, fmt.Errorf("%s.csv: %s could not be read; the first: %s", t.File, words.Count(n, "row"), of.Findings[0].Says)
		}
		little := of.Laws[law.InFlight.ID]
		held := little.Held + little.Broken
		j := judgedTable{b.Title, b.Date, t.Tool, map[string]int{"rows": of.Rows, "held": held, "broken": little.Broken}, map[string]string{"date": b.Date}}
		for name, n := range j.Values {
			j.Shown[name] = words.Thousands(n)
		}
		if j.Shown["share"] = "none"; little.Broken > 0 {
			j.Shown["share"] = strings.ReplaceAll(words.Share(float64(little.Broken)/float64(held)), " ", "\u00a0")
		}
		out[t.File] = j
	}
	return out, nil
}
