package archive

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// began is a run with only its experiment, name, host and start.
func began(x, name, host string, minute int) *results.File {
	return &results.File{SchemaVersion: 2, Experiment: x, Run: name, Source: results.Measured, Hosts: results.Hosts{Server: host, Client: host},
		NotApplicable: "made up", Provenance: &results.Provenance{StartedAt: time.Date(2026, 1, 2, 3, minute, 0, 0, time.UTC)}}
}

func TestARecordIsOfTheRunsThatBeganBefore(t *testing.T) {
	j := open(t, archivetest.Clone(t))
	x, err := j.Experiment("11-threads")
	if err != nil {
		t.Fatal(err)
	}
	first, second, third := began(x.Name, "first", "h", 1), began(x.Name, "second", "h", 2), began(x.Name, "third", "h", 3)
	text := began(x.Name, "published", "h", 1)
	text.Source, text.Provenance = results.Published, nil
	j.Runs = []*results.File{third, text, began(x.Name, "elsewhere", "other", 1), first, began("10-workers", "another", "h", 1), second}
	for _, c := range []struct {
		of   *results.File
		want []string
	}{
		{first, []string{"first"}},
		{third, []string{"first", "second", "third"}},
		{text, []string{"published"}},
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

// A machine with a new name keeps its record, if its profile says so.
func TestBlocksOfAMachineCountUnderAllOfItsNames(t *testing.T) {
	root := archivetest.Clone(t)
	archivetest.Write(t, root.Host("before"), `{"schema_version": 1, "id": "before", "name": "N", "cpu": "C", "cores": 2, "memory_bytes": 1073741824, "kernel": "6.1"}`)
	archivetest.Write(t, root.Host("now"), `{"schema_version": 2, "id": "now", "name": "N", "cpu": "C", "cores": 2, "same_as": "before", "mark": "0123456789abcdef"}`)
	archivetest.Write(t, root.Host("twin"), `{"schema_version": 2, "id": "twin", "name": "N", "cpu": "C", "cores": 2, "mark": "fedcba9876543210"}`)
	j := open(t, root)
	x, err := j.Experiment("11-threads")
	if err != nil {
		t.Fatal(err)
	}
	first, second, third := began(x.Name, "first", "before", 1), began(x.Name, "second", "now", 2), began(x.Name, "third", "before", 3)
	loaded := began(x.Name, "loaded", "now", 1)
	loaded.Hosts.Client = "twin"
	j.Runs = []*results.File{first, began(x.Name, "other", "twin", 1), loaded, second, third}
	for of, want := range map[*results.File][]string{second: {"first", "second"}, third: {"first", "second", "third"}, loaded: {"loaded"}} {
		var got []string
		for _, r := range j.Record(x, of) {
			got = append(got, r.File.Run)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the record of %s has %v, want %v", of.Run, got, want)
		}
	}
	if on := j.On(loaded); !on.Same(results.Hosts{Server: "before", Client: "twin"}) {
		t.Errorf("%+v", on)
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
	all := []*results.File{in("alone"), in("two", "h", "h"), in("three", "h", "h", "h"), in("others", "i", "k"), in("turned", "k", "i"),
		in("alone again"), in("two again", "h", "h"), in("others again", "i", "k")}
	j.Runs = all
	for i, want := range map[int]string{5: "alone, alone again", 6: "two, two again", 2: "three", 7: "others, others again", 4: "turned"} {
		var got []string
		for _, r := range j.Record(x, all[i]) {
			got = append(got, r.File.Run)
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("the record of %s has %v, want %s", all[i].Run, got, want)
		}
	}
}

func TestAMachineIsDeclaredTheSameOnlyAsOneThatItCanBe(t *testing.T) {
	root := archivetest.Clone(t)
	for _, c := range []struct{ about, says string }{
		{`"cores": 2, "same_as": "before"`, ""},
		{`"cores": 2, "same_as": "before", "caches": "L2 1M x1", "memory_bytes": 2147483648, "kernel": "6.9"`, ""},
		{`"cores": 2, "same_as": "nobody"`, "/same_as: no profile data/hosts/nobody.json"},
		{`"cores": 2, "same_as": "now"`, "/same_as: it names the host itself"},
		{`"cores": 4, "same_as": "before"`, "/same_as: before computes with other parts, so it is another machine"},
		{`"cores": 2, "same_as": "middle"`, "/same_as: middle is the same as before; name that one"},
	} {
		archivetest.Write(t, root.Host("before"), `{"schema_version": 1, "id": "before", "name": "N", "cores": 2, "memory_bytes": 1073741824, "kernel": "6.1"}`)
		archivetest.Write(t, root.Host("middle"), `{"schema_version": 2, "id": "middle", "name": "N", "cores": 2, "same_as": "before"}`)
		archivetest.Write(t, root.Host("now"), `{"schema_version": 2, "id": "now", "name": "N", `+c.about+`}`)
		_, faults, err := Open(root)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case c.says == "" && len(faults) > 0:
			t.Errorf("%s: %v", c.about, faults)
		case c.says != "" && (len(faults) != 1 || filepath.ToSlash(faults[0].Path) != "data/hosts/now.json" || filepath.ToSlash(faults[0].Err.Error()) != c.says):
			t.Errorf("%s: %v, want %q", c.about, faults, c.says)
		}
	}
}
