package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/bound"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

const data = "../../../data"

func committed(t testing.TB, pattern ...string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(append([]string{data}, pattern...)...))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files %v (%v)", pattern, err)
	}
	return paths
}

func TestEveryCommittedFileIsOfItsSchema(t *testing.T) {
	for _, p := range committed(t, "results", "*", "*.json") {
		f, err := Read(p)
		if err != nil {
			t.Error(err)
			continue
		}
		x, err := experiment.Load(filepath.Join("../../experiments", f.Experiment+".toml"))
		if err != nil {
			t.Error(err)
		} else if err := f.Check(x); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	for _, p := range committed(t, "hosts", "*.json") {
		h, err := ReadHost(p)
		if err != nil {
			t.Error(err)
		} else if h.ID+".json" != filepath.Base(p) {
			t.Errorf("%s holds %s", p, h.ID)
		}
	}
}

// made is a made-up measured run of two conditions. Tests replace parts of it.
const made = `{
  "schema_version": 1,
  "experiment": "made-up",
  "run": "20260102t030405z-h",
  "source": "measured",
  "hosts": {"server": "h", "client": "h"},
  "provenance": {
    "started_at": "2026-01-02T03:04:05Z", "finished_at": "2026-01-02T03:05:05Z",
    "commit": "unknown", "dirty": true,
    "experiment_sha256": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "size": "smoke", "blocks": 1, "warmup_s": 0.3, "duration_s": 4, "seed": 18446744073709551603,
    "generator": "autocannon", "tools": {}, "kernel": {}
  },
  "topology": {"kind": "loopback"},
  "settings": {"route": "/read", "prefork": true, "connections": 100},
  "conditions": [
    {"id": "c1", "levels": {"workers": 1}},
    {"id": "c2", "levels": {"workers": 2}}
  ],
  "trials": [
    {"seq": 1, "block": 1, "condition": "c1", "started_at": "2026-01-02T03:04:06.5Z", "valid": true, "bound": "unknown",
      "metrics": {"throughput_rps": 1000.25, "requests": 4001, "duration_s": 4}, "below": {"latency_p50_s": 0.001}},
    {"seq": 2, "block": 1, "condition": "c2", "valid": false, "reasons": [{"gate": "errors", "detail": "1 connection errors"}],
      "bound": "unknown", "metrics": {}}
  ]
}
`

func decode(t *testing.T, text string) (*File, error) {
	t.Helper()
	f := &File{}
	err := Decode([]byte(text), SchemaURL, f)
	return f, err
}

func TestDecodeReadsEveryField(t *testing.T) {
	f, err := decode(t, made)
	if err != nil {
		t.Fatal(err)
	}
	if f.Provenance.Seed != math.MaxUint64-12 || !f.Provenance.StartedAt.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("provenance %+v", f.Provenance)
	}
	if f.Conditions[1].Levels[setting.Workers] != setting.Int(2) || f.Settings[setting.Prefork] != setting.Bool(true) {
		t.Errorf("levels %v, settings %v", f.Conditions[1].Levels, f.Settings)
	}
	if f.Trials[0].Metrics["throughput_rps"] != 1000.25 || f.Trials[0].Below["latency_p50_s"] != 0.001 || f.Trials[1].Reasons[0].Gate != "errors" {
		t.Errorf("trials %+v", f.Trials)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		says           string // the message begins with it
	}{
		// The version comes before anything else that is wrong.
		{"an unknown version", `"schema_version": 1`, `"schema_version": 99`, "/schema_version: version 99 is not known to this lab, which reads version 1"},
		{"an unknown version with unknown fields", `"schema_version": 1,`, `"schema_version": 99, "new_field": {}, "trials_2": [],`, "/schema_version: version 99 is not known"},
		{"version 0", `"schema_version": 1`, `"schema_version": 0`, "/schema_version: version 0 is not known"},
		{"a version that is a text", `"schema_version": 1`, `"schema_version": "1"`, "/schema_version: version 1 is not known"},
		{"a half version", `"schema_version": 1`, `"schema_version": 1.5`, "/schema_version: version 1.5 is not known"},
		{"version null", `"schema_version": 1`, `"schema_version": null`, "/schema_version: "},
		{"no version", `"schema_version": 1,`, ``, "/schema_version: missing"},

		// By line, what JSON readers let pass.
		{"a key that stands twice", `"block": 1, "condition": "c1"`, "\"block\": 1,\n\"block\": 2, \"condition\": \"c1\"", `line 22: /trials/0/block: key "block" stands twice`},
		{"text after it", "  ]\n}\n", "  ]\n}\n{}", "line 27: text after the end"},
		{"a comma too many", `"dirty": true,`, "\"dirty\": true,,", "line 9: "},

		// By pointer, what is not of the shape. The pointer is to the object
		// that holds the unknown key.
		{"an unknown field at the top", `"run": "20260102t030405z-h",`, `"run": "20260102t030405z-h", "best_of": 3,`, "/: additional properties 'best_of' not allowed"},
		{"an unknown field in a trial", `"seq": 2,`, `"seq": 2, "note": "x",`, "/trials/1: additional properties 'note' not allowed"},
		{"an unknown field in provenance", `"dirty": true,`, `"dirty": true, "user": "x",`, "/provenance: additional properties 'user' not allowed"},
		{"a field in another case", `"run": "20260102t030405z-h",`, `"run": "20260102t030405z-h", "Run": "s",`, "/: additional properties 'Run' not allowed"},
		{"a missing field", `"run": "20260102t030405z-h",`, ``, "/: missing property 'run'"},
		{"a missing field in a trial", `"seq": 2, `, ``, "/trials/1: missing property 'seq'"},
		{"an unknown metric", `"throughput_rps": 1000.25`, `"throughput": 1000.25`, `/trials/0/metrics: no metric "throughput"`},
		{"an unknown metric below", `"latency_p50_s": 0.001`, `"latency_s": 0.001`, `/trials/0/below: no metric "latency_s"`},
		{"a metric that is a text", `"throughput_rps": 1000.25`, `"throughput_rps": "1000"`, "/trials/0/metrics/throughput_rps: got string, want number"},
		{"a metric that is null", `"throughput_rps": 1000.25`, `"throughput_rps": null`, "/trials/0/metrics/throughput_rps: got null, want number"},
		{"an unknown source", `"source": "measured"`, `"source": "guessed"`, "/source: "},
		{"an unknown bound", `"valid": true, "bound": "unknown"`, `"valid": true, "bound": "network"`, "/trials/0/bound: "},
		{"an unknown topology", `"kind": "loopback"`, `"kind": "wifi"`, "/topology/kind: "},
		{"an unknown size", `"size": "smoke"`, `"size": "huge"`, "/provenance/size: "},
		{"no block", `"blocks": 1`, `"blocks": 0`, "/provenance/blocks: "},
		{"a checksum that is none", `0123456789abcdef0123`, `0123456789abcdef012g`, "/provenance/experiment_sha256: "},
		{"trial 0", `"seq": 1`, `"seq": 0`, "/trials/0/seq: "},
		{"a list as a level", `{"workers": 1}`, `{"workers": [1]}`, "/conditions/0/levels/workers: "},
		{"a negative level", `{"workers": 1}`, `{"workers": -1}`, "/conditions/0/levels/workers: "},
		{"an empty level", `"route": "/read"`, `"route": ""`, "/settings/route: "},
		{"a reason without a gate", `{"gate": "errors", `, `{`, "/trials/1/reasons/0: missing property 'gate'"},
		{"a name that is empty", `"experiment": "made-up"`, `"experiment": ""`, "/experiment: "},
		{"trials null", made[strings.Index(made, `"trials"`):], `"trials": null}`, "/trials: got null, want array"},

		// Past the schema, by the decoder.
		{"a time that is none", "2026-01-02T03:04:05Z", "yesterday", ""},
		{"a seed beyond its range", "18446744073709551603", "18446744073709551616", ""},
		{"a negative seed", "18446744073709551603", "-1", ""},
		{"a number beyond float64", "1000.25", "1e400", ""},
	} {
		if strings.Count(made, c.old) == 0 {
			t.Fatalf("%s: %q does not stand in the made-up run", c.name, c.old)
		}
		_, err := decode(t, strings.Replace(made, c.old, c.new, 1))
		if err == nil {
			t.Errorf("%s: accepted", c.name)
		} else if !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%s: %q does not begin with %q", c.name, err, c.says)
		}
	}
	for _, text := range []string{"", "null", "[]", "1", `"x"`, "{", "{}"} {
		if _, err := decode(t, text); err == nil {
			t.Errorf("%q: accepted", text)
		}
	}
}

func TestReadNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(path, []byte(`{"schema_version": 99}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(string) error{
		"results": func(p string) error { _, err := Read(p); return err },
		"host":    func(p string) error { _, err := ReadHost(p); return err },
	} {
		if err := read(path); err == nil || !strings.HasPrefix(err.Error(), path+": /schema_version: version 99") {
			t.Errorf("%s: %v", name, err)
		}
		if err := read(path + "x"); err == nil {
			t.Errorf("%s: a file that is not there was read", name)
		}
	}
}

func TestHostProfilesAreChecked(t *testing.T) {
	const good = `{"schema_version": 1, "id": "made-up", "name": "Made up", "cores": 4}`
	p := &host.Profile{}
	if err := Decode([]byte(good), HostSchemaURL, p); err != nil || p.Cores != 4 {
		t.Errorf("%+v, %v", p, err)
	}
	for _, c := range []struct{ name, old, new, says string }{
		{"an unknown field", `"cores": 4`, `"owner": "x"`, "/: additional properties 'owner' not allowed"},
		{"no core", `"cores": 4`, `"cores": 0`, "/cores: "},
		{"an id that is no file name", `"made-up"`, `"../made-up"`, "/id: "},
		{"an unknown version", `"schema_version": 1`, `"schema_version": 2`, "/schema_version: version 2"},
		{"no name", `"name": "Made up", `, ``, "/: missing property 'name'"},
	} {
		err := Decode([]byte(strings.Replace(good, c.old, c.new, 1)), HostSchemaURL, &host.Profile{})
		if err == nil || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

func TestTheSchemaListsEveryMetric(t *testing.T) {
	var s struct {
		ID   string `json:"$id"`
		Defs map[string]struct {
			Properties map[string]struct {
				PropertyNames struct{ Enum []string }
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	if s.ID != SchemaURL {
		t.Errorf("the schema calls itself %q", s.ID)
	}
	for _, field := range []string{"metrics", "below", "printed"} {
		if got := s.Defs["Trial"].Properties[field].PropertyNames.Enum; !slices.Equal(got, metric.Names()) {
			t.Errorf("%s admits %v", field, got)
		}
	}
	if !bytes.Equal(Schema(), Schema()) || !bytes.Equal(HostSchema(), HostSchema()) {
		t.Error("the schema differs from time to time")
	}
}

func TestTheRunFitsADesignOfItsOwn(t *testing.T) {
	f, err := decode(t, made)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Check(design(t)); err != nil {
		t.Errorf("the made-up run that the next test breaks is broken itself: %v", err)
	}
}

func design(t *testing.T) *experiment.Experiment {
	t.Helper()
	x, err := experiment.Parse("made-up", []byte(`
entry = "7"
title = "t"
question = "q"
metrics = ["throughput_rps"]
topology = { kind = "loopback" }
settings = { route = "/read", prefork = true, connections = 100 }
factors = [{ name = "workers", levels = [1, 2] }]
sizes.smoke = { blocks = 1, duration_s = 1 }
sizes.full = { blocks = 6, duration_s = 1 }
claims = [{ id = "c", kind = "flat", text = "t", metric = "throughput_rps", over = "workers", margin = 0.1 }]
`))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// published turns the made-up run into one that a text printed.
func published(f *File) {
	f.Source, f.Provenance, f.Run = Published, nil, "published-2026-01-01-h"
	f.Text = &Text{Entry: "7", Date: "2026-01-01"}
	f.Trials[0].Printed = map[string]string{"throughput_rps": "1,000", "requests": "4,001", "duration_s": "4 s", "latency_p50_s": "<1ms"}
}

// again measures the first condition so many times more, as controls.
func again(n int) func(*File) {
	return func(f *File) {
		for i := range n {
			c := f.Conditions[0]
			c.ID, c.ControlOf = fmt.Sprintf("a%d", i+1), c.ID
			f.Conditions = append(f.Conditions, c)
			// Where the seed draws it: behind the first condition.
			t := f.Trials[0]
			t.Condition, t.StartedAt = c.ID, t.StartedAt.Add(time.Duration(5*(i+1))*time.Second)
			f.Trials = slices.Insert(f.Trials, 1+i, t)
		}
		for i := range f.Trials {
			f.Trials[i].Seq = i + 1
		}
	}
}

func TestCheckFindsContradictions(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*File)
		says string // empty: accepted
	}{
		{"nothing", func(*File) {}, ""},
		{"published", published, ""},

		{"measured without provenance", func(f *File) { f.Provenance = nil }, "/provenance: missing"},
		{"published without its text", func(f *File) { published(f); f.Text = nil }, "/text: missing"},
		{"published with provenance", func(f *File) { published(f); f.Provenance = &Provenance{} }, "/source: "},
		{"measured with a text", func(f *File) { f.Text = &Text{} }, "/source: "},
		{"not applicable, with trials", func(f *File) { f.NotApplicable = "no wire" }, "/not_applicable: "},
		{"not applicable, without", func(f *File) { f.NotApplicable = "no wire"; f.Trials = nil }, ""},
		{"no trials and no reason", func(f *File) { f.Trials = nil }, "/trials: empty"},

		{"an unknown setting", func(f *File) { f.Settings["speed"] = setting.Int(1) }, "/settings/speed: unknown setting"},
		{"a setting of the wrong kind", func(f *File) { f.Settings["prefork"] = setting.Int(1) }, "/settings/prefork: "},
		{"an unknown factor", func(f *File) { f.Conditions[1].Levels["speed"] = setting.Int(1) }, "/conditions/1/levels/speed: unknown setting"},
		{"a level of the wrong kind", func(f *File) { f.Conditions[1].Levels["workers"] = setting.String("2") }, "/conditions/1/levels/workers: "},
		{"an id twice", func(f *File) { f.Conditions[1].ID = "c1" }, `/conditions/1/id: "c1" stands twice`},
		{"levels twice", func(f *File) { f.Conditions[1].Levels["workers"] = setting.Int(1) }, `/conditions/1/levels: the same as those of "c1"`},
		{"measured over what is no factor", func(f *File) { f.Conditions[1].Levels["pipelining"] = setting.Int(2) }, "/conditions/1/levels/pipelining: not a factor of made-up"},
		{"published over what is no factor", func(f *File) { published(f); f.Conditions[1].Levels["pipelining"] = setting.Int(2) }, ""},

		{"an A/A control", again(1), ""},
		{"two of them", again(2), "/conditions: 2 A/A controls; a run has one at most"},
		{"a control of nothing", func(f *File) { again(1)(f); f.Conditions[2].ControlOf = "c9" }, "/conditions/2/control_of: "},
		{"a control at other levels", func(f *File) { again(1)(f); f.Conditions[2].ControlOf = "c2" }, "/conditions/2/control_of: "},

		{"a trial out of order", func(f *File) { f.Trials[1].Seq = 3 }, "/trials/1/seq: 3, but it is the trial at place 2"},
		{"trials swapped", func(f *File) { f.Trials[0], f.Trials[1] = f.Trials[1], f.Trials[0] }, "/trials/0/seq: 2"},
		{"a trial left out", func(f *File) { f.Trials = f.Trials[1:] }, "/trials/0/seq: 2"},
		{"a trial of no condition", func(f *File) { f.Trials[1].Condition = "c3" }, `/trials/1/condition: no condition "c3"`},
		{"valid with a reason", func(f *File) { f.Trials[1].Valid = true }, "/trials/1/reasons: a valid trial has none"},
		{"invalid without", func(f *File) { f.Trials[1].Reasons = nil }, "/trials/1/reasons: an invalid trial needs at least one"},
		{"a figure that is none", func(f *File) { f.Trials[0].Metrics["throughput_rps"] = math.NaN() }, "/trials/0/metrics/throughput_rps: NaN is not a figure"},
		{"an endless figure", func(f *File) { f.Trials[0].Metrics["throughput_rps"] = math.Inf(1) }, "/trials/0/metrics/throughput_rps: +Inf is not a figure"},
		{"known and below", func(f *File) { f.Trials[0].Below["throughput_rps"] = 1 }, "/trials/0/below/throughput_rps: the figure is known as well"},
		{"published, not as printed", func(f *File) { published(f); delete(f.Trials[0].Printed, "throughput_rps") }, "/trials/0/printed/throughput_rps: missing"},
		{"published, printed empty", func(f *File) { published(f); f.Trials[0].Printed["throughput_rps"] = "" }, "/trials/0/printed/throughput_rps: missing"},
		{"printed, of no figure", func(f *File) { published(f); f.Trials[0].Printed["errors"] = "5" }, "/trials/0/printed/errors: no published figure"},
		{"measured, but printed", func(f *File) { f.Trials[0].Printed = map[string]string{"throughput_rps": "1,000"} }, "/trials/0/printed/throughput_rps: no published figure"},
		{"a bound that the figures do not give", func(f *File) { f.Trials[0].Bound = bound.ServerCPU }, `/trials/0/bound: "server-cpu", but the figures give "unknown"`},
		{"a bound kept back", func(f *File) { f.Trials[0].Metrics["client_cores_busy"] = 1 }, `/trials/0/bound: "unknown", but the figures give "client-cpu"`},
		// A megabyte a second is 8 Mbit/s, of a line rate of 8: the wire is full.
		{"a full wire by its transfer", func(f *File) {
			f.Topology.LineRateBps = 8e6
			f.Trials[0].Metrics["transfer_bytes_per_s"] = 1e6
		}, `/trials/0/bound: "unknown", but the figures give "wire"`},
	} {
		f, err := decode(t, made)
		if err != nil {
			t.Fatal(err)
		}
		c.set(f)
		err = f.Check(design(t))
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.HasPrefix(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

func TestEncodeIsTheSameForTheSameValue(t *testing.T) {
	f, err := decode(t, made)
	if err != nil {
		t.Fatal(err)
	}
	f.Warnings = []string{"a < b & c > d"}
	first, err := Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 { // maps are written in the order of their keys
		if again, _ := Encode(f); !bytes.Equal(first, again) {
			t.Fatal("the bytes differ from time to time")
		}
	}
	if !bytes.HasSuffix(first, []byte("}\n")) || bytes.HasSuffix(first, []byte("\n\n")) {
		t.Error("the text does not end in one newline")
	}
	if !bytes.Contains(first, []byte("a < b & c > d")) {
		t.Error("signs that HTML knows are escaped; a diff could not be read")
	}
	if !bytes.Contains(first, []byte("\n  \"run\": \"20260102t030405z-h\",\n")) {
		t.Error("it is not indented by two blanks")
	}
	// A trial that was not started has no time, not the year 1.
	if bytes.Contains(first, []byte("0001-01-01")) {
		t.Error("a time that is not known is written")
	}
	if _, err := Encode(map[string]float64{"x": math.NaN()}); err == nil {
		t.Error("NaN was written; JSON has none")
	}
}

func scratchAndTarget(t *testing.T) (scratch, path string) {
	t.Helper()
	dir := t.TempDir()
	return filepath.Join(dir, "scratch"), filepath.Join(dir, "data", "results", "x", "r.json")
}

func empty(t *testing.T, scratch string) {
	t.Helper()
	left, err := os.ReadDir(scratch)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range left {
		t.Errorf("%s was left in scratch", e.Name())
	}
}

func TestWriteNewNeverReplaces(t *testing.T) {
	scratch, path := scratchAndTarget(t)
	if err := WriteNew(scratch, path, []byte("first")); err != nil {
		t.Fatal(err)
	}
	empty(t, scratch)
	err := WriteNew(scratch, path, []byte("second"))
	if err == nil || !strings.Contains(err.Error(), "exists already") || !strings.Contains(err.Error(), path) {
		t.Errorf("a second time: %v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != "first" {
		t.Errorf("the file holds %q", got)
	}
	empty(t, scratch)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v; others are to read it", info.Mode(), err)
	}
}

func TestWriteNewLeavesNothingWhereItCannotWrite(t *testing.T) {
	scratch, path := scratchAndTarget(t)
	// A directory stands where the file should.
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := WriteNew(scratch, path, []byte("x")); err == nil {
		t.Error("it wrote over a directory")
	}
	if err := Replace(scratch, path, []byte("x")); err == nil {
		t.Error("it replaced a directory")
	}
	empty(t, scratch)
	// A file stands where a directory should.
	if err := WriteNew(scratch, filepath.Join(os.Args[0], "x", "r.json"), []byte("x")); err == nil {
		t.Error("it wrote below a file")
	}
	empty(t, scratch)
}

// Many writers race for one name; a reader meanwhile sees either nothing or a
// whole text, and one writer wins.
func TestANameAppearsOnlyComplete(t *testing.T) {
	scratch, path := scratchAndTarget(t)
	text := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, 1<<18) }
	const writers = 8
	var won sync.Map
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for i := range writers {
		wg.Go(func() {
			if WriteNew(scratch, path, text(i)) == nil {
				won.Store(i, true)
			}
		})
	}
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			if got, err := os.ReadFile(path); err == nil {
				if len(got) != 1<<18 || !bytes.Equal(got, text(int(got[0]-'a'))) {
					t.Errorf("a reader saw %d bytes, or those of several writers", len(got))
				}
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	wg.Wait()
	close(stop)
	reader.Wait()
	winners := 0
	won.Range(func(i, _ any) bool {
		winners++
		if got, _ := os.ReadFile(path); !bytes.Equal(got, text(i.(int))) {
			t.Error("the file is not the winner's")
		}
		return true
	})
	if winners != 1 {
		t.Errorf("%d writers believe they wrote it", winners)
	}
	empty(t, scratch)
}

func TestReplaceReplaces(t *testing.T) {
	scratch, path := scratchAndTarget(t)
	for _, text := range []string{"first", "second", ""} {
		if err := Replace(scratch, path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("the file holds %q, want %q", got, text)
		}
	}
	empty(t, scratch)
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(made))
	for _, p := range committed(f, "results", "*", "*.json") {
		text, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"schema_version": 99}`))
	f.Add([]byte(strings.Replace(made, "1000.25", "-0", 1)))
	f.Add([]byte(strings.Replace(made, `{"workers": 1}`, `{"workers": 9007199254740993}`, 1)))
	f.Add([]byte(strings.Replace(made, "03:04:06.5Z", "03:04:06.5+13:30", 1)))
	f.Add([]byte(strings.Replace(made, `"topology"`, `"warnings": [], "topology"`, 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		var first File
		if Decode(text, SchemaURL, &first) != nil {
			return
		}
		once, err := Encode(&first)
		if err != nil {
			t.Fatalf("accepted, but it cannot be written: %v", err)
		}
		var second File
		if err := Decode(once, SchemaURL, &second); err != nil {
			t.Fatalf("what was written is refused: %v\n%s", err, once)
		}
		// Compared as written: an empty list and none mean the same.
		if twice, err := Encode(&second); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("it became another value:\n%s\n%s (%v)", once, twice, err)
		}
	})
}

// A measured run of another design than its experiment's must not decide that
// experiment's claims.
func TestMeasuredRunFollowsItsDesign(t *testing.T) {
	const design = `entry = "1"
title = "t"
question = "q"
metrics = ["workers"]
[topology]
kind = "loopback"
[settings]
route = "/read"
connections = 10
[[factors]]
name = "workers"
levels = [1, 2]
[sizes.smoke]
blocks = 2
duration_s = 1
[sizes.full]
blocks = 2
duration_s = 1
[[claims]]
id = "c"
kind = "count"
text = "t"
metric = "workers"
equals = "workers"
`
	x, err := experiment.Parse("x", []byte(design))
	if err != nil {
		t.Fatal(err)
	}
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, test := range map[string]struct {
		spoil func(f *File)
		want  string
	}{
		"as designed":          {func(*File) {}, ""},
		"another route":        {func(f *File) { f.Settings["route"] = setting.String("/simple") }, "/settings: "},
		"another topology":     {func(f *File) { f.Topology = Topology{Kind: "netns", LineRateBps: 1} }, "/topology: "},
		"another level":        {func(f *File) { f.Conditions[1].Levels["workers"] = setting.Int(8) }, "/conditions/1/levels: "},
		"a condition short":    {func(f *File) { f.Conditions = f.Conditions[:1]; f.Trials = f.Trials[:1] }, "/conditions: 1, but x has 2"},
		"a block too many":     {func(f *File) { f.Trials[1].Block = 3 }, "/trials/1/block: 3 of 1"},
		"two chances, one won": {func(f *File) { f.Trials[1].Condition = "c1" }, `/trials/1: "c1" counts already in block 1`},
	} {
		t.Run(name, func(t *testing.T) {
			f := &File{
				SchemaVersion: Version, Experiment: "x", Run: "20260102t030405z-h", Source: Measured, Hosts: Hosts{"h", "h"},
				Provenance: &Provenance{Blocks: 1, DurationS: 1, Seed: 1, StartedAt: began, FinishedAt: began.Add(time.Minute)},
				Topology:   Topology{Kind: "loopback"}, Settings: x.Fixed(),
				Conditions: []Condition{
					{ID: "c1", Levels: setting.Levels{"workers": setting.Int(1)}},
					{ID: "c2", Levels: setting.Levels{"workers": setting.Int(2)}},
				},
			}
			for i := range 2 {
				f.Trials = append(f.Trials, Trial{
					Seq: i + 1, Block: 1, Condition: f.Conditions[i].ID, StartedAt: began.Add(time.Duration(2*i) * time.Second), Valid: true, Bound: bound.Unknown,
					Metrics: map[string]float64{"workers": float64(i + 1), "throughput_rps": 5, "requests": 5, "duration_s": 1},
				})
			}
			test.spoil(f)
			err := f.Check(x)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
				t.Errorf("Check: %v, want %q", err, test.want)
			}
		})
	}
}
