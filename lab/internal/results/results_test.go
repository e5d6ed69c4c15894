package results

import (
	"bytes"
	_ "embed"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

const data = "../../../data"

// committed are the first and the last file of each directory that the pattern names.
// lab check reads all of them, and a test that does as well takes longer with each run.
func committed(t testing.TB, pattern ...string) (ends []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(append([]string{data}, pattern...)...))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files %v (%v)", pattern, err)
	}
	for i, p := range paths {
		if i == 0 || i == len(paths)-1 || filepath.Dir(p) != filepath.Dir(paths[i-1]) ||
			filepath.Dir(p) != filepath.Dir(paths[i+1]) {
			ends = append(ends, p)
		}
	}
	return ends
}

// kept are the committed runs that were read, by path: three tests read the same, and
// change none.
var kept = map[string]*File{}

func readOnce(path string) (*File, error) {
	if f, ok := kept[path]; ok {
		return f, nil
	}
	f, err := Read(path)
	if err == nil {
		kept[path] = f
	}
	return f, err
}

func TestEveryCommittedFileIsOfItsSchema(t *testing.T) {
	for _, p := range committed(t, "results", "*", "*.json") {
		if _, err := readOnce(p); err != nil {
			t.Error(err)
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
//
//go:embed testdata/made-up.json
var made string

func decode(t *testing.T, text string) (*File, error) {
	t.Helper()
	f := &File{}
	err := Decode([]byte(text), f)
	return f, err
}

func TestDecodeReadsEveryField(t *testing.T) {
	f, err := decode(t, made)
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
	if f.Trials[0].Metrics["throughput_rps"] != 1000.25 || f.Trials[0].Below["latency_p50_s"] != 0.001 ||
		f.Trials[1].Reasons[0].Gate != "errors" {
		t.Errorf("trials %+v", f.Trials)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		says           string // the message has it
	}{
		// The version is reported before any other error.
		{"no provenance", `"provenance": {`, `"origin": {`, `unknown field "origin"`},
		{"no plan", `"block": {`, `"blocked": {`, `unknown field "blocked"`},
		{"no budget", `"budget_s"`, `"budgeted_s"`, `unknown field "budgeted_s"`},
		{"an unknown version", `"schema_version": 3`, `"schema_version": 99`,
			"/schema_version: version 99 is not known to this lab, which reads version 3"},
		{"an unknown version with unknown fields", `"schema_version": 3,`,
			`"schema_version": 99, "new_field": {}, "trials_2": [],`, "/schema_version: version 99 is not known"},
		{"version 0", `"schema_version": 3`, `"schema_version": 0`, "/schema_version: version 0 is not known"},
		{"a version that is a text", `"schema_version": 3`, `"schema_version": "1"`,
			`/schema_version: version "1" is not known`},
		{"a half version", `"schema_version": 3`, `"schema_version": 2.5`, "/schema_version: version 2.5 is not known"},
		{"version null", `"schema_version": 3`, `"schema_version": null`, "/schema_version: "},
		{"no version", `"schema_version": 3,`, ``, "/schema_version: missing"},

		// Errors that JSON decoders accept name the line.
		{"a key that stands twice", `"block": 1, "of": "c1"`, "\"block\": 1,\n\"block\": 2, \"of\": \"c1\"",
			`line 22: /trials/0/block: key "block" stands twice`},
		{"text after it", "null]}\n}\n", "null]}\n}\n{}", "line 26: invalid character"},
		{"a comma too many", `"dirty": true,`, "\"dirty\": true,,", "line 8: "},

		// Unknown fields and names.
		{"an unknown field at the top", `"run": "20260102t030405z-h",`, `"run": "20260102t030405z-h", "best_of": 3,`,
			`unknown field "best_of"`},
		{"an unknown field in a trial", `"of": "c2",`, `"of": "c2", "note": "x",`,
			`unknown field "note"`},
		{"an unknown field in provenance", `"dirty": true,`, `"dirty": true, "user": "x",`,
			`unknown field "user"`},
		{"a missing field", `"run": "20260102t030405z-h",`, ``, "/run: "},
		{"an unknown metric", `"requests": [`, `"asked": [`, `/figures: no metric "asked"`},
		{"an unknown metric below", `"latency_p50_s": 0.001`, `"latency_s": 0.001`, `/trials/0/below: no metric "latency_s"`},
		{"a metric that is a text", `[4001, null]`, `"4001"`, "line 24: "},
		{"a metric that follows", `"requests": [4001, null]`, `"requests": [4001, null], "throughput_rps": [1000.25, null]`,
			"/figures/throughput_rps/0: it follows from other figures of the trial; leave it out"},
		{"a bound of its own", `"of": "c1",`, `"of": "c1", "bound": "unknown",`,
			`unknown field "bound"`},
		{"a word of its own on validity", `"of": "c1",`, `"of": "c1", "valid": false,`,
			`unknown field "valid"`},
		{"a first trial of no block", `"block": 1, "of"`, `"of"`, "/trials/0/block: missing"},
		{"block 0", `"block": 1,`, `"block": 0,`, "/trials/0/block: "},
		{"a list as a level", `{"workers": 1}`, `{"workers": [1]}`, "[1] is not a level"},
		{"a reason without a gate", `{"gate": "errors", `, `{`, "/trials/1/reasons/0/gate: missing"},
		{"a name that is empty", `"experiment": "made-up"`, `"experiment": ""`, "/experiment: "},

		// What the decoder reports.
		{"a time that is none", "2026-01-02T03:04:05Z", "yesterday", ""},
		{"a seed beyond its range", "18446744073709551603", "18446744073709551616", ""},
		{"a negative seed", "18446744073709551603", "-1", ""},
		{"a number beyond float64", "4001", "1e400", ""},
	} {
		if strings.Count(made, c.old) == 0 {
			t.Fatalf("%s: %q does not stand in the made-up run", c.name, c.old)
		}
		_, err := decode(t, strings.Replace(made, c.old, c.new, 1))
		if err == nil {
			t.Errorf("%s: accepted", c.name)
		} else if !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q does not have %q", c.name, err, c.says)
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
	const good = `{"schema_version": 2, "id": "made-up", "name": "Made up", "cores": 4}`
	p := &host.Profile{}
	if err := Decode([]byte(good), p); err != nil || p.Cores != 4 {
		t.Errorf("%+v, %v", p, err)
	}
	const later = `{"schema_version": 2, "id": "made-up", "name": "Made up", "mark": "0123456789abcdef", "cpu_version": "a/1", "sockets": 1, "threads_per_core": 2, "caches": "L2 1M x1"}`
	if err := Decode([]byte(later), p); err != nil || p.Mark != "0123456789abcdef" {
		t.Errorf("%+v, %v", p, err)
	}
	for _, c := range []struct{ name, old, new, says string }{
		{"an unknown field", `"cores": 4`, `"owner": "x"`, `unknown field "owner"`},
		{"an id that is no file name", `"made-up"`, `"../made-up"`, "/id: "},
		{"an unknown version", `"schema_version": 2`, `"schema_version": 3`,
			"/schema_version: version 3 is not known to this lab, which reads version 2"},
		{"no name", `"name": "Made up", `, ``, "/name: missing"},
		{"a raw id", `2, "id"`, `2, "mark": "0123456789abcdef0123456789abcdef", "id"`, "/mark: "},
	} {
		err := Decode([]byte(strings.Replace(good, c.old, c.new, 1)), &host.Profile{})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
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
	for blocks := range 3 {
		text, err := Encode(turned(f, turning(f), blocks, blocks > 1))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"schema_version": 99}`))
	f.Add([]byte(strings.Replace(made, "4001", "-0", 1)))
	f.Add([]byte(strings.Replace(made, `{"workers": 1}`, `{"workers": 9007199254740993}`, 1)))
	f.Add([]byte(strings.Replace(made, `"at": 1.5`, `"at": -1.5`, 1)))
	f.Add([]byte(strings.Replace(made, `"topology"`, `"warnings": [], "topology"`, 1)))
	f.Fuzz(func(t *testing.T, text []byte) {
		var first File
		if Decode(text, &first) != nil {
			return
		}
		once, err := Encode(&first)
		if err != nil {
			t.Fatalf("accepted, but it cannot be written: %v", err)
		}
		if bytes.Equal(once, text) {
			return // written as it was read, and so read and written as before
		}
		var second File
		if err := Decode(once, &second); err != nil {
			t.Fatalf("what was written is refused: %v\n%s", err, once)
		}
		// Compared as text: an empty list and none mean the same.
		if twice, err := Encode(&second); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("it became another value:\n%s\n%s (%v)", once, twice, err)
		}
	})
}
