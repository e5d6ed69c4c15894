package archive

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// began is a run with only its experiment, name, host and start.
func began(x, name, host string, minute int) *results.File {
	return &results.File{SchemaVersion: results.Version, Experiment: x, Run: name,
		Hosts:         results.Hosts{Server: host, Client: host},
		NotApplicable: "made up", Provenance: &results.Provenance{StartedAt: time.Date(2026, 1, 2, 3, minute, 0, 0,
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

// A server's blocks over loopback, those in a fleet, and those in another fleet
// are three records, also where all hosts are one machine.
func TestAFleetsBlocksCountWithNoOthers(t *testing.T) {
	j := open(t, archivetest.Clone(t))
	x, err := j.Experiment("11-threads")
	if err != nil {
		t.Fatal(err)
	}
	minute := 0
	in := func(name string, clients ...string) *results.File {
		minute++
		f := began(x.Name, name, "h", minute)
		if f.Hosts.Clients = clients; len(clients) > 0 {
			f.Hosts.Client = clients[0]
		}
		return f
	}
	all := []*results.File{in("alone"), in("two", "h", "h"), in("three", "h", "h", "h"), in("others", "i", "k"),
		in("turned", "k", "i"),
		in("alone again"), in("two again", "h", "h"), in("others again", "i", "k")}
	j.Runs = all
	for i, want := range map[int]string{5: "alone, alone again", 6: "two, two again", 2: "three",
		7: "others, others again", 4: "turned"} {
		var got []string
		for _, r := range j.Record(x, all[i]) {
			got = append(got, r.File.Run)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("the record of %s has %v, want %s", all[i].Run, got, want)
		}
	}
}
