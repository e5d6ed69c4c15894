package journal

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/flame"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A made-up experiment with a lock in each request and without, over two
// routes, and where its made-up run and that run's profiles lie.
const (
	lockRun  = "98-made-lock/20260101t000000z-c6in-8xlarge"
	lockFile = "data/results/" + lockRun + ".json"

	lockDesign = `entry = "98"
title = "A lock in each request"
question = "What does it cost?"
metrics = ["throughput_rps"]
budget_s = 60
[profile]
seconds = 1
compare = "index"
[topology]
kind = "loopback"
[settings]
connections = 10
generator = "http_load"
[[factors]]
name = "index"
levels = ["gofakeit", "pool"]
[[factors]]
name = "route"
levels = ["/list", "/read"]
[block]
slot_s = 1
rounds = 1
[[claims]]
id = "c"
kind = "flat"
text = "t"
metric = "throughput_rps"
over = "index"
margin = 0.1
`
)

// lockSamples are what one trial of a condition came to: stacks, with
// milliseconds blocked or bytes live.
var lockSamples = map[string]map[string]map[string]int64{
	"block": {
		"gofakeit": {"main.run github.com/brianvoe/gofakeit/v7.Number sync.(*Mutex).Lock": 6000, "net/http.(*conn).serve net/http/pprof.Profile runtime.selectgo": 3000},
		"pool":     {"net/http.(*conn).serve net/http/pprof.Profile runtime.selectgo": 3000},
	},
	"mutex": {
		"gofakeit": {"main.run github.com/brianvoe/gofakeit/v7.Number sync.(*Mutex).Unlock": 600},
		"pool":     {},
	},
	"heap": {
		"gofakeit": {"main.main encoding/json.Marshal": 1 << 20},
		"pool":     {"main.main encoding/json.Marshal": 1 << 20, "main.main main.draw": 1 << 19},
	},
}

// rawLock makes a profile of two trials of three seconds each, as pprof has it.
func rawLock(t *testing.T, kind, index string) []byte {
	t.Helper()
	p := &profile.Profile{DurationNanos: 6e9, SampleType: []*profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}}}
	factor := int64(1e6)
	if kind == "heap" {
		p.SampleType = []*profile.ValueType{{Type: "inuse_objects", Unit: "count"}, {Type: "inuse_space", Unit: "bytes"}}
		factor = 1
	}
	for stack, v := range lockSamples[kind][index] {
		s := &profile.Sample{Value: []int64{2, 2 * v * factor}}
		for _, name := range strings.Fields(stack) {
			f := &profile.Function{ID: uint64(len(p.Function) + 1), Name: name}
			l := &profile.Location{ID: f.ID, Line: []profile.Line{{Function: f}}}
			p.Function, p.Location = append(p.Function, f), append(p.Location, l)
			s.Location = append([]*profile.Location{l}, s.Location...)
		}
		p.Sample = append(p.Sample, s)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// trialLock is what a results file says of one such trial.
func trialLock(kind, index string) profiles.Profile {
	const fake, pprof, json = "github.com/brianvoe/gofakeit", "net/http/pprof", "encoding/json"
	type shares = map[string]float64
	for _, p := range []struct {
		index string
		profiles.Profile
	}{
		{"gofakeit", profiles.Profile{Kind: "block", Unit: "s", Total: 9, Events: 2, Stacks: 2, DurationS: 3, Work: shares{"lock": 0.666666667, "profiler": 0.333333333}, Packages: shares{fake: 0.666666667, pprof: 0.333333333}}},
		{"pool", profiles.Profile{Kind: "block", Unit: "s", Total: 3, Events: 1, Stacks: 1, DurationS: 3, Work: shares{"profiler": 1}, Packages: shares{pprof: 1}}},
		{"gofakeit", profiles.Profile{Kind: "mutex", Unit: "s", Total: 0.6, Events: 1, Stacks: 1, DurationS: 3, Work: shares{"lock": 1}, Packages: shares{fake: 1}}},
		{"pool", profiles.Profile{Kind: "mutex", Unit: "s", DurationS: 3, Packages: shares{}}},
		{"gofakeit", profiles.Profile{Kind: "heap", Unit: "B", Total: 1048576, Events: 1, Stacks: 1, Work: shares{"handler": 1}, Packages: shares{json: 1}}},
		{"pool", profiles.Profile{Kind: "heap", Unit: "B", Total: 1572864, Events: 2, Stacks: 2, Work: shares{"handler": 1}, Packages: shares{json: 0.666666667}}},
	} {
		if string(p.Kind) == kind && p.index == index {
			return p.Profile
		}
	}
	panic(kind + " of " + index)
}

// profiledClone is a clone with the made-up experiment and its run.
func profiledClone(t *testing.T) Root {
	t.Helper()
	root := clone(t)
	write(t, filepath.Join(root.Experiments(), "98-made-lock.toml"), lockDesign)
	design := sha256.Sum256([]byte(lockDesign))
	write(t, root.Design(hex.EncodeToString(design[:])), lockDesign)
	x, err := experiment.Parse("98-made-lock", []byte(lockDesign))
	if err != nil {
		t.Fatal(err)
	}
	f := madeup.Run(madeup.Plan{
		Experiment: x, Hosts: results.Hosts{Server: "c6in-8xlarge", Client: "c6in-8xlarge"}, Started: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Seed: 1, Blocks: 2, Ended: results.Blocks, NoControl: true,
	})
	index := map[string]string{}
	for i := range f.Conditions {
		c := &f.Conditions[i]
		index[c.ID] = c.Levels[setting.Index].String()
		for _, kind := range []string{"block", "mutex", "heap"} {
			data := rawLock(t, kind, index[c.ID])
			file := fmt.Sprintf("%s/%s-%s.pb.gz", lockRun, c.ID, kind)
			write(t, root.Profile(file), string(data))
			sum := sha256.Sum256(data)
			c.Profiles = append(c.Profiles, results.RawProfile{Kind: profiles.Kind(kind), File: file, SHA256: hex.EncodeToString(sum[:]), Trials: 2})
		}
	}
	for i := range f.Trials {
		for _, kind := range []string{"block", "mutex", "heap"} {
			f.Trials[i].Profiles = append(f.Trials[i].Profiles, trialLock(kind, index[f.Trials[i].Condition]))
		}
	}
	text, err := results.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	write(t, root.path(lockFile), string(text))
	return root
}

func flames(t *testing.T, root Root) []string {
	t.Helper()
	all, err := files(root.path("data", "flames", "98-made-lock"), ".json")
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range all {
		all[i] = strings.TrimSuffix(filepath.Base(p), ".json")
	}
	return all
}

func TestProfilesAreDrawn(t *testing.T) {
	root := profiledClone(t)
	if err := open(t, root).Derive(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"c1-block", "c1-c3-block", "c1-c3-heap", "c1-c3-mutex", "c1-heap", "c1-mutex",
		"c2-block", "c2-c4-block", "c2-c4-heap", "c2-c4-mutex", "c2-heap", "c2-mutex",
		"c3-block", "c3-heap", "c3-mutex", "c4-block", "c4-heap", "c4-mutex",
	}
	if got := flames(t, root); !slices.Equal(got, want) {
		t.Errorf("drawn are %q, want %q", got, want)
	}

	var tree flame.Tree
	decodeFlame(t, root, "c1-block", &tree)
	if tree.Name != "A lock in each request: block profile, route=/list index=gofakeit" {
		t.Errorf("the tree is called %q", tree.Name)
	}
	// Two trials of three seconds, with nine seconds blocked in each.
	if tree.Kind != "block" || tree.Condition != "c1" || tree.Trials != 2 || tree.Raw != lockRun+"/c1-block.pb.gz" ||
		tree.Total != 18 || tree.DurationS != 6 || tree.Parked != 3 || tree.Least != 0.005 || tree.SchemaVersion != 1 {
		t.Errorf("the tree is %+v", tree)
	}
	if want := []flame.WorkShare{{Work: "lock", Share: 0.666666667}, {Work: "profiler", Share: 0.333333333}}; !slices.Equal(tree.Work, want) {
		t.Errorf("work is %v, want %v", tree.Work, want)
	}
	tree = flame.Tree{}
	decodeFlame(t, root, "c3-mutex", &tree)
	if tree.Total != 0 || tree.Depth != 1 || len(tree.Work) != 0 || tree.Parked != 0 {
		t.Errorf("where nothing was contended: %+v", tree)
	}
	tree = flame.Tree{}
	decodeFlame(t, root, "c1-heap", &tree)
	if tree.DurationS != 0 || tree.Parked != 0 || tree.Total != 2<<20 {
		t.Errorf("heap, of two moments: %+v", tree)
	}

	var d flame.DiffTree
	decodeFlame(t, root, "c2-c4-block", &d)
	if d.Kind != "block" || d.Before != "c2" || d.After != "c4" || d.Unit != "s/s" || d.TotalBefore != 3 || d.TotalAfter != 1 || d.Root.Difference != -2 {
		t.Errorf("the difference is %+v", d)
	}
	if d.Name != "A lock in each request: block profile, route=/read index=gofakeit, then route=/read index=pool" {
		t.Errorf("the difference is called %q", d.Name)
	}
	d = flame.DiffTree{}
	decodeFlame(t, root, "c1-c3-heap", &d)
	if d.Unit != "B" || d.TotalBefore != 1<<20 || d.TotalAfter != 1<<20+1<<19 {
		t.Errorf("the difference of moments is %+v", d)
	}
}

func decodeFlame(t *testing.T, root Root, name string, into any) {
	t.Helper()
	text := read(t, root.path("data/flames", lockRun, name+".json"))
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	// A line for each frame, so that a change of one is a change of a line.
	if strings.Count(text, "\n") != strings.Count(text, `"n":`)+1 {
		t.Errorf("%s has %d lines for %d names", name, strings.Count(text, "\n"), strings.Count(text, `"n":`))
	}
}

// redesign has the made-up run of another design.
func redesign(t *testing.T, root Root, old, new string) {
	t.Helper()
	was, text := sha256.Sum256([]byte(lockDesign)), strings.Replace(lockDesign, old, new, 1)
	is := sha256.Sum256([]byte(text))
	write(t, root.Design(hex.EncodeToString(is[:])), text)
	if err := os.Remove(root.Design(hex.EncodeToString(was[:]))); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root.Experiments(), "98-made-lock.toml"), text)
	edit(t, root.path(lockFile), hex.EncodeToString(was[:]), hex.EncodeToString(is[:]))
}

func TestOnlyWhatIsComparedHasADifference(t *testing.T) {
	root := profiledClone(t)
	redesign(t, root, "compare = \"index\"\n", "")
	j := open(t, root)
	if err := j.Derive(); err != nil {
		t.Fatal(err)
	}
	for _, name := range flames(t, root) {
		if strings.Count(name, "-") > 1 {
			t.Errorf("%s was made, though nothing is compared", name)
		}
	}
}

func TestARunIsAddedWithItsProfiles(t *testing.T) {
	root := profiledClone(t)
	f, err := results.Read(root.path(lockFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(root.path(lockFile)); err != nil {
		t.Fatal(err)
	}
	// As a run leaves it: the journal was read before it began.
	before := root.path("data", "profiles")
	if err := os.Rename(before, root.path("away")); err != nil {
		t.Fatal(err)
	}
	design := root.Design(f.Provenance.ExperimentSHA256)
	if err := os.Remove(design); err != nil {
		t.Fatal(err)
	}
	j := open(t, root)
	if err := j.Add(f); err == nil || !strings.Contains(err.Error(), ".toml: missing") {
		t.Errorf("without its design: %v", err)
	}
	write(t, design, lockDesign)
	if err := j.Add(f); err == nil || !strings.Contains(err.Error(), "/conditions/0/profiles/0: data/profiles/"+lockRun+"/c1-block.pb.gz: missing") {
		t.Errorf("without its profiles: %v", err)
	}
	if err := os.Rename(root.path("away"), before); err != nil {
		t.Fatal(err)
	}
	if err := j.Add(f); err != nil {
		t.Fatal(err)
	}
	if err := j.Derive(); err != nil {
		t.Fatal(err)
	}
	if got := flames(t, root); len(got) != 18 {
		t.Errorf("%d trees were drawn", len(got))
	}
}

func TestPairsDifferInNothingElse(t *testing.T) {
	x, err := experiment.Parse("98-made-lock", []byte(lockDesign))
	if err != nil {
		t.Fatal(err)
	}
	at := func(id, controlOf, index, route string) results.Condition {
		return results.Condition{ID: id, ControlOf: controlOf, Levels: setting.Levels{"index": setting.String(index), "route": setting.String(route)}}
	}
	f := &results.File{Conditions: []results.Condition{
		at("c1", "", "gofakeit", "/list"), at("c2", "", "gofakeit", "/read"), at("c3", "", "pool", "/list"), at("c4", "", "pool", "/read"),
		at("c5", "c1", "gofakeit", "/list"), // the A/A control is no side
	}}
	ids := func() (out []string) {
		for _, p := range pairs(x, f) {
			out = append(out, p[0].ID+"-"+p[1].ID)
		}
		return out
	}
	if got, want := ids(), []string{"c1-c3", "c2-c4"}; !slices.Equal(got, want) {
		t.Errorf("pairs %q, want %q", got, want)
	}
	x.Profile.Compare = "route"
	if got, want := ids(), []string{"c1-c2", "c3-c4"}; !slices.Equal(got, want) {
		t.Errorf("pairs over the route %q, want %q", got, want)
	}
	for _, none := range []string{"", "workers"} {
		x.Profile.Compare = none
		if got := ids(); len(got) > 0 {
			t.Errorf("pairs over %q: %q", none, got)
		}
	}
}

func TestOpenNamesFaultsOfProfiles(t *testing.T) {
	const raw = "data/profiles/" + lockRun + "/c2-block.pb.gz"
	at := "/conditions/1/profiles/0: " + raw + ": "
	// replace has the run name other bytes, digest and all.
	replace := func(t *testing.T, r Root, data []byte) {
		t.Helper()
		old := sha256.Sum256([]byte(read(t, r.path(raw))))
		sum := sha256.Sum256(data)
		write(t, r.path(raw), string(data))
		text := read(t, r.path(lockFile))
		// The first is c1's, whose file is the same.
		first := strings.Index(text, `c2-block.pb.gz`)
		text = text[:first] + strings.Replace(text[first:], hex.EncodeToString(old[:]), hex.EncodeToString(sum[:]), 1)
		write(t, r.path(lockFile), text)
	}
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, r Root)
		path  string
		says  string
	}{
		{"a file that is gone", func(t *testing.T, r Root) {
			if err := os.Remove(r.path(raw)); err != nil {
				t.Fatal(err)
			}
		}, lockFile, at + "missing"},
		{"a file that was changed", func(t *testing.T, r Root) {
			write(t, r.path(raw), read(t, r.path(raw))+"x")
		}, lockFile, at + "its SHA-256 is "},
		{"a file that is no profile", func(t *testing.T, r Root) { replace(t, r, []byte("no profile")) }, lockFile, at + "parsing profile"},
		{"a file cut short", func(t *testing.T, r Root) { data := []byte(read(t, r.path(raw))); replace(t, r, data[:len(data)/2]) }, lockFile, at},
		{"a file of more than any profile has", func(t *testing.T, r Root) { replace(t, r, make([]byte, mostPacked+1)) }, lockFile, at + "more than 4194304 bytes"},
		{"a file that unpacks to more than any profile has", func(t *testing.T, r Root) {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			zeros := make([]byte, 1<<20)
			for range mostUnpacked>>20 + 1 {
				if _, err := z.Write(zeros); err != nil {
					t.Fatal(err)
				}
			}
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			replace(t, r, b.Bytes())
		}, lockFile, at + "unpacks to more than 67108864 bytes"},
		{"a profile of another kind", func(t *testing.T, r Root) { replace(t, r, rawLock(t, "heap", "gofakeit")) }, lockFile, at + "profiles: block: the profile has no sample type"},
		{"a profile of other trials", func(t *testing.T, r Root) { replace(t, r, rawLock(t, "block", "pool")) }, lockFile, at + "it holds 6 s, but its trials 18"},
		{"a profile of another window", func(t *testing.T, r Root) {
			p, err := profile.ParseData(rawLock(t, "block", "gofakeit"))
			if err != nil {
				t.Fatal(err)
			}
			p.DurationNanos *= 2 // as where processes' windows were added up
			var b bytes.Buffer
			if err := p.Write(&b); err != nil {
				t.Fatal(err)
			}
			replace(t, r, b.Bytes())
		}, lockFile, at + "its window is 12 s, but its trials' are 6 s together"},
		{"a profile of no run", func(t *testing.T, r Root) {
			write(t, r.path("data/profiles/"+lockRun+"/c9-block.pb.gz"), "x")
		}, "data/profiles/" + lockRun + "/c9-block.pb.gz", "no run names it"},
		{"profiles of a run that is gone", func(t *testing.T, r Root) {
			write(t, r.path("data/profiles/98-made-lock/gone/c1-cpu.pb.gz"), "x")
		}, "data/profiles/98-made-lock/gone/c1-cpu.pb.gz", "no run names it"},
		// Its profiles are its own all the same.
		{"a run that is faulty itself", func(t *testing.T, r Root) {
			edit(t, r.path(lockFile), `"schema_version": 2`, `"schema_version": 99`)
		}, lockFile, "/schema_version: version 99"},
		{"a kind of work that is none", func(t *testing.T, r Root) { edit(t, r.path(lockFile), `"lock": `, `"locks": `) }, lockFile, "/trials/0/profiles/0/work/locks: "},
		{"a design that profiles nothing", func(t *testing.T, r Root) {
			redesign(t, r, "[profile]\nseconds = 1\ncompare = \"index\"\n", "")
		}, lockFile, "/trials/0/profiles/0: 98-made-lock profiles nothing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := profiledClone(t)
			c.spoil(t, root)
			_, faults, err := Open(root)
			if err != nil {
				t.Fatal(err)
			}
			if len(faults) != 1 || faults[0].Path != filepath.FromSlash(c.path) || !strings.HasPrefix(faults[0].Err.Error(), c.says) {
				t.Fatalf("faults %v, want %s: %s", faults, c.path, c.says)
			}
			if text := faults[0].Err.Error(); strings.Contains(text, string(root)) || strings.Contains(text, "\n") {
				t.Errorf("%q is not one line, or says where the clone lies", text)
			}
		})
	}
}

func TestOnlyProfilesLieAmongProfiles(t *testing.T) {
	root := profiledClone(t)
	stray := "data/profiles/" + lockRun + "/notes.gz"
	write(t, root.path(stray), "x")
	if _, _, err := Open(root); err == nil || !strings.Contains(err.Error(), filepath.FromSlash(stray)+": only .pb.gz files belong there") {
		t.Errorf("%v", err)
	}
}

func TestDriftOfFlames(t *testing.T) {
	root := profiledClone(t)
	if err := open(t, root).Derive(); err != nil {
		t.Fatal(err)
	}
	j := open(t, root)
	if got := drift(t, j); len(got) > 0 {
		t.Fatalf("drift %q", got)
	}
	const dir = "data/flames/" + lockRun
	edit(t, root.path(dir, "c1-block.json"), `"parked":3`, `"parked":4`)
	if err := os.Remove(root.path(dir, "c1-c3-heap.json")); err != nil {
		t.Fatal(err)
	}
	write(t, root.path(dir, "c9-cpu.json"), "{}")
	want := []string{dir + "/c1-block.json: differs from what the data gives", dir + "/c1-c3-heap.json: missing", dir + "/c9-cpu.json: its profile is gone"}
	if got := drift(t, j); !slices.Equal(slashed(got), want) {
		t.Errorf("drift %q, want %q", got, want)
	}
	if err := j.Derive(); err != nil {
		t.Fatal(err)
	}
	if got := drift(t, j); len(got) > 0 {
		t.Errorf("still drifted after Derive: %q", got)
	}

	// With the run its profiles are strays, and what was drawn of them goes.
	design := sha256.Sum256([]byte(lockDesign))
	for _, p := range []string{root.path(lockFile), root.path("data/profiles/98-made-lock"), root.Design(hex.EncodeToString(design[:]))} {
		if err := os.RemoveAll(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := open(t, root).Derive(); err != nil {
		t.Fatal(err)
	}
	if left := flames(t, root); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}
