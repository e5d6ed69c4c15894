package results_test

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// made is a made-up run of two conditions. Tests replace its parts.
//
//go:embed testdata/made-up.json
var made string

func decode(text string) (*results.File, error) {
	f := &results.File{}
	return f, results.Decode([]byte(text), f)
}

// design is one of the designs made up for tests: made-up, measured in one piece, or turning, of four conditions in
// two groups of two.
func design(t testing.TB, name string) *experiment.Experiment {
	t.Helper()
	x, err := experiment.Load("../experiment/testdata/" + name + ".toml")
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// turned is a made-up run of the design turning, with a control.
func turned(t testing.TB, blocks int) *results.File {
	t.Helper()
	return madeup.Run(madeup.Plan{Experiment: design(t, "turning"), Host: "h",
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Seed: 11, Blocks: blocks})
}

func encoded(t testing.TB, v any) string {
	t.Helper()
	text, err := results.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The first and the last run of each experiment, since lab check reads all of them.
func TestRecordedFilesAreRead(t *testing.T) {
	dirs, err := filepath.Glob("../../../data/results/*")
	if err != nil || len(dirs) < 5 {
		t.Fatalf("%d experiments, %v", len(dirs), err)
	}
	for _, dir := range dirs {
		runs, _ := filepath.Glob(filepath.Join(dir, "*.json"))
		for _, path := range []string{runs[0], runs[len(runs)-1]} {
			f, err := results.Read(path)
			if err != nil {
				t.Error(err)
				continue
			}
			sheet, err := f.Sheet()
			if err != nil {
				t.Fatal(err)
			}
			if rows, err := csv.NewReader(bytes.NewReader(sheet)).ReadAll(); err != nil || len(rows) != len(f.Trials)+1 {
				t.Errorf("%s as CSV: %d rows, %v", path, len(rows), err)
			}
		}
	}
	hosts, _ := filepath.Glob("../../../data/hosts/*.json")
	for _, path := range hosts {
		if h, err := results.ReadHost(path); err != nil || h.ID+".json" != filepath.Base(path) {
			t.Errorf("%s: %+v, %v", path, h, err)
		}
	}
}

func TestARunIsRead(t *testing.T) {
	f, err := decode(made)
	if err != nil {
		t.Fatal(err)
	}
	if f.Provenance.Seed != math.MaxUint64-12 ||
		!f.Provenance.StartedAt.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("provenance %+v", f.Provenance)
	}
	if f.Conditions[1].Levels[setting.Workers] != setting.Int(2) || f.Settings[setting.Prefork] != setting.Bool(true) {
		t.Errorf("levels %v, settings %v", f.Conditions[1].Levels, f.Settings)
	}
	one, two := f.Trials[0], f.Trials[1]
	if one.Metrics["throughput_rps"] != 1000.25 || one.Below["latency_p50_s"] != 0.001 || two.Reasons[0].Gate != "errors" ||
		two.Block != 1 || !one.Valid || two.Valid {
		t.Errorf("trials %+v", f.Trials)
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	f := turned(t, 3)
	f.Warnings = []string{"a < b & c > d"}
	f.Trials[0].Resolution = map[string]float64{"latency_p50_s": 1.5e-5}
	delete(f.Trials[1].Metrics, "latency_p50_s")
	text := encoded(t, f)
	read, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Trials {
		was, is := f.Trials[i], read.Trials[i]
		if fmt.Sprint(was.Metrics, was.Slots, was.Valid, was.Bound, was.Seq, was.Block) !=
			fmt.Sprint(is.Metrics, is.Slots, is.Valid, is.Bound, is.Seq, is.Block) ||
			is.StartedAt.Sub(was.StartedAt).Abs() > time.Millisecond {
			t.Errorf("it was read as\n%+v, written was\n%+v", is, was)
		}
	}
	if read.Trials[0].Resolution["latency_p50_s"] != 1.5e-5 || f.Figures != nil || read.Figures != nil {
		t.Error("resolutions are missing, or figures are in two places")
	}
	if again := encoded(t, read); again != text {
		t.Error("what was read is written otherwise")
	}
	for _, part := range []string{"\n  \"run\": ", "a < b & c > d", "\n    {\"block\": 1,\"of\": \"c4\"", "\n}\n"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in it:\n%.3000s", part, text)
		}
	}
	if strings.Count(text, "\n    {\"block\": ") != len(f.Trials) || strings.Contains(text, "throughput_rps") {
		t.Error("trials have not a line each, or what follows is written")
	}
	if _, err := results.Encode(map[string]float64{"x": math.NaN()}); err == nil {
		t.Error("NaN was written; JSON has none")
	}
}

// A run ends before its file is too long, but not before it has enough blocks.
func TestARunStaysBelowItsSize(t *testing.T) {
	for _, c := range []struct {
		blocks, trials int
		full           bool
	}{{20, 100, false}, {60, 300, true}, {11, 300, false}} {
		f := turned(t, 1)
		f.Provenance.Blocks, f.Trials = c.blocks, make([]results.Trial, c.trials)
		if f.Full() != c.full {
			t.Errorf("%d trials of %d blocks: full: %v", c.trials, c.blocks, f.Full())
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		says           string // the message has it
	}{
		{"an unknown version with unknown fields", `"schema_version": 3,`, `"schema_version": 99, "new_field": {},`,
			"/schema_version: version 99 is not known to this lab, which reads version 3"},
		{"no version", `"schema_version": 3,`, ``, "/schema_version: version 0 is not known"},
		{"a version that is a text", `"schema_version": 3`, `"schema_version": "3"`, `within "/schema_version"`},
		{"a doubled key", `"block": 1, "of": "c1"`, "\"block\": 1,\n\"block\": 2, \"of\": \"c1\"",
			`line 22: jsontext: duplicate object member name "block" within "/trials/0"`},
		{"text after it", "null]}\n}\n", "null]}\n}\n{}", "line 26: "},
		{"an unknown field", `"of": "c2",`, `"of": "c2", "note": "x",`, `unknown object member name "note" within "/trials/1"`},
		{"a word of its own on validity", `"of": "c1",`, `"of": "c1", "valid": false,`, `unknown object member name "valid"`},
		{"figures beside the trial", `"of": "c1",`, `"of": "c1", "metrics": {},`, `unknown object member name "metrics"`},
		{"no locks", `"locks": {"design": "0123456789abcdef", "claims": {}},`, ``, "/provenance/locks: missing"},
		{"no plan", `"block": {"slot_s": 4, "rounds": 1, "warmup_s": 0.3},`, ``, "/provenance/block: missing"},
		{"a column too long", `[4001, null]`, `[4001, null, 1]`, "/figures/requests: 3 entries for 2 trials"},
		{"a metric that is a text", `[4001, null]`, `"4001"`, "line 24: "},
		{"a number beyond float64", "4001", "1e400", "line 24: "},
		{"a number of a slot left out", `"at": 1.5,`, `"slots": [[1,2,3,4,5,6]],`, "a slot has 6 numbers"},
		{"a list as a level", `{"workers": 1}`, `{"workers": [1]}`, "[1] is not a level"},
		{"a time that is none", "2026-01-02T03:04:05Z", "yesterday", `within "/provenance/started_at"`},
		{"a seed beyond its range", "18446744073709551603", "18446744073709551616", `within "/provenance/seed"`},
	} {
		if !strings.Contains(made, c.old) {
			t.Fatalf("%s: the made-up run has no %q", c.name, c.old)
		}
		if _, err := decode(strings.Replace(made, c.old, c.new, 1)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
	for _, text := range []string{"", "null", "[]", "1", `"x"`, "{", "{}"} {
		if _, err := decode(text); err == nil {
			t.Errorf("%q: accepted", text)
		}
	}
}

func TestHostProfilesAreChecked(t *testing.T) {
	const good = `{"schema_version": 2, "id": "made-up", "name": "Made up", "cores": 4}`
	for _, c := range []struct{ name, old, new, says string }{
		{"nothing", "", "", ""},
		{"an unknown field", `"cores": 4`, `"owner": "x"`, `unknown object member name "owner"`},
		{"an id that is no file name", `"made-up"`, `"../made-up"`, "/id: "},
		{"an unknown version", `"schema_version": 2`, `"schema_version": 3`,
			"/schema_version: version 3 is not known to this lab, which reads version 2"},
		{"no name", `"name": "Made up", `, ``, "/name: missing"},
	} {
		err := results.Decode([]byte(strings.Replace(good, c.old, c.new, 1)), &host.Profile{})
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

// A file of another version, or too large a one, is refused by its name; it is not read whole.
func TestReadNamesTheFile(t *testing.T) {
	dir := t.TempDir()
	other, large := filepath.Join(dir, "other.json"), filepath.Join(dir, "large.json")
	err := os.WriteFile(other, []byte(`{"schema_version": 99}`), 0o644)
	if err == nil {
		err = os.WriteFile(large, nil, 0o644)
	}
	if err != nil || os.Truncate(large, 1<<40) != nil {
		t.Skip(err)
	}
	for path, says := range map[string]string{other: ": /schema_version: version 99", large: ": more than 8388608 bytes",
		filepath.Join(dir, "missing.json"): ""} {
		if _, err := results.Read(path); err == nil || !strings.Contains(err.Error(), path+says) {
			t.Errorf("%v", err)
		}
		if _, err := results.ReadHost(path); err == nil || !strings.Contains(err.Error(), path+says) {
			t.Errorf("a host: %v", err)
		}
	}
}

func TestReplaceLeavesAWholeFileOrNone(t *testing.T) {
	dir := t.TempDir()
	scratch, path := filepath.Join(dir, "scratch"), filepath.Join(dir, "data", "results", "x", "r.json")
	for _, text := range []string{"first", "second", ""} {
		if err := results.Replace(scratch, path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("the file holds %q, want %q", got, text)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v; others are to read it", info.Mode(), err)
	}
	// A directory where the file should be, and a file where a directory should be.
	for _, path := range []string{filepath.Dir(path), filepath.Join(path, "below.json")} {
		if err := results.Replace(scratch, path, []byte("x")); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
		t.Errorf("%v is left in scratch, %v", left, err)
	}
}

// A shared server that is defined otherwise begins a new record; runs that do not say it stay as they are.
func TestDefinitionsOfServersTellRunsApart(t *testing.T) {
	run := func(servers map[string]experiment.Server) *results.File {
		return &results.File{Provenance: &results.Provenance{Servers: servers}}
	}
	fiber := experiment.Server{Command: "server --addr {addr}", Build: "build"}
	today := run(map[string]experiment.Server{"fiber": fiber})
	option, env := fiber, fiber
	option.Command, env.Env = "server --fast --addr {addr}", map[string]string{"GOGC": "off"}
	for _, c := range []struct {
		servers map[string]experiment.Server
		same    bool
	}{
		{map[string]experiment.Server{"fiber": fiber}, true}, {nil, true}, {map[string]experiment.Server{"null": option}, true},
		{map[string]experiment.Server{"fiber": option}, false}, {map[string]experiment.Server{"fiber": env}, false},
	} {
		if f := run(c.servers); f.CountsWith(today) != c.same || today.CountsWith(f) != c.same {
			t.Errorf("%v: counts with today's: %v", c.servers, !c.same)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(made))
	f.Add([]byte(encoded(f, turned(f, 2))))
	f.Add([]byte(strings.Replace(made, "4001", "-0", 1)))
	f.Add([]byte(strings.Replace(made, `{"workers": 1}`, `{"workers": 9007199254740993}`, 1)))
	piece, turns := design(f, "made-up"), design(f, "turning")
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := decode(string(text))
		if err != nil {
			return
		}
		encoded(t, read)
		for _, x := range []*experiment.Experiment{piece, turns} {
			_ = read.Check(x) // any finding will do, as long as it returns
		}
	})
}
