package journal

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// addRun adds a made-up run of the threads experiment as it is.
func addRun(t *testing.T, root Root, host string, started time.Time, blocks int) *results.File {
	t.Helper()
	text := read(t, root.path(threadsDesign))
	x, err := experiment.Parse("11-threads", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	f := madeup.Run(madeup.Plan{Experiment: x, Hosts: results.Hosts{Server: host, Client: host}, Started: started, Seed: uint64(started.Unix()), Blocks: blocks, Ended: results.Blocks})
	data, err := results.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	write(t, root.Result("11-threads", f.Run), string(data))
	write(t, root.Design(x.SHA256), text)
	return f
}

// Runs of one design on one host add up, and none of another version or host does.
func TestRunsOfOneDesignOnOneHostAreARecord(t *testing.T) {
	const host = "intel-xeon-processor-2c-ca1b5bc8"
	root := clone(t)
	day := time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)
	later := addRun(t, root, host, day.Add(time.Hour), 7)
	first := addRun(t, root, host, day, 6)
	other := addRun(t, root, "c6in-8xlarge", day.Add(2*time.Hour), 9)
	if err := open(t, root).Derive(); err != nil {
		t.Fatal(err)
	}
	said := func(run string) (f verdict.File) {
		t.Helper()
		if err := json.Unmarshal([]byte(read(t, root.Verdict("11-threads", run))), &f); err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, c := range []struct {
		run    string
		record []string
		blocks int
	}{
		{first.Run, []string{first.Run}, 6},
		{later.Run, []string{first.Run, later.Run}, 13},
		{other.Run, []string{other.Run}, 9},
	} {
		f := said(c.run)
		if !slices.Equal(f.Record.Runs, c.record) || f.Record.Blocks != c.blocks || len(f.Claims) != 1 || f.Claims[0].Blocks != c.blocks || f.Claims[0].Runs != len(c.record) || len(f.Earlier) > 0 {
			t.Errorf("%s: %+v, %+v, earlier %+v", c.run, f.Record, f.Claims, f.Earlier)
		}
	}
	if f := said(measured); len(f.Claims) > 0 || len(f.Earlier) != 1 || !slices.Equal(f.Record.Runs, []string{measured}) {
		t.Errorf("of version 1: %+v, claims %+v, earlier %+v", f.Record, f.Claims, f.Earlier)
	}

	// Over hosts each has its newest record; the published runs of one are none.
	var hosts verdict.Hosts
	if err := json.Unmarshal([]byte(read(t, root.Hosts("11-threads"))), &hosts); err != nil {
		t.Fatal(err)
	}
	var runs []string
	for _, on := range hosts.Claims[0].Hosts {
		runs = append(runs, on.Run)
	}
	if want := []string{other.Run, later.Run}; !slices.Equal(runs, want) {
		t.Errorf("hosts %q, want %q", runs, want)
	}
}

// A run of version 2 stands and falls with its design.
func TestFaultsOfARunInTurns(t *testing.T) {
	for _, c := range []struct{ name, old, new, says string }{
		{"a slot that never was", `"slots": {`, `"slots": { "at_s": [], `, `key "at_s" stands twice`},
		{"another seed", `"seed": 1`, `"seed": 2`, "but the seed draws"},
		{"more blocks than there are", `"blocks": 6`, `"blocks": 7`, "7 complete blocks of 4 conditions"},
		{"an end that is none", `"ended": "blocks"`, `"ended": "tired"`, "/provenance/ended"},
		{"another warm-up than the design's", `"warmup_s": 0`, `"warmup_s": 0.2`, "/provenance/block"},
	} {
		root := clone(t)
		f := addRun(t, root, "c6in-8xlarge", time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC), 6)
		path := root.Result("11-threads", f.Run)
		edit(t, path, c.old, c.new)
		_, faults, err := Open(root)
		if err != nil {
			t.Fatal(err)
		}
		if len(faults) != 1 || faults[0].Path != root.Rel(path) || !strings.Contains(faults[0].Err.Error(), c.says) {
			t.Errorf("%s: faults %v, want %s", c.name, faults, c.says)
		}
	}
}
