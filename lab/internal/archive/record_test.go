package archive

import (
	"slices"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// began is a run with only its experiment, name, host and start.
func began(x, name, host string, minute int) *results.File {
	return &results.File{SchemaVersion: results.Version, Experiment: x, Run: name,
		Hosts: results.Hosts{Server: host, Client: host},
		Provenance: &results.Provenance{StartedAt: time.Date(2026, 1, 2, 3, minute, 0, 0,
			time.UTC)}}
}

func TestARecordIsOfTheRunsThatBeganBefore(t *testing.T) {
	j := open(t, archivetest.Clone(t))
	x, err := j.Experiment("11-threads")
	if err != nil {
		t.Fatal(err)
	}
	first, second, third := began(x.Name, "first", "h", 1), began(x.Name, "second", "h", 2), began(x.Name, "third", "h", 3)
	j.Runs = []*results.File{third, began(x.Name, "elsewhere", "other", 1), first, began("10-workers", "another", "h", 1),
		second}
	for _, c := range []struct {
		of   *results.File
		want []string
	}{
		{first, []string{"first"}},
		{third, []string{"first", "second", "third"}},
		// A run that the journal does not have yet.
		{began(x.Name, "fourth", "h", 4), []string{"first", "second", "third", "fourth"}},
	} {
		var got []string
		for _, r := range j.Record(x, c.of) {
			if got = append(got, r.File.Run); r.Then != x {
				t.Errorf("%s: its design is missing", r.File.Run)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.of.Run, got, c.want)
		}
	}
}
