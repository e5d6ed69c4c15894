package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

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
	for range 20 { // maps must be written sorted by key
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
	if !bytes.Contains(first, []byte("\n \"run\": \"20260102t030405z-h\",\n")) {
		t.Error("it is not indented by a blank")
	}
	// A trial that was not started has no time, not the year 1.
	if bytes.Contains(first, []byte("0001-01-01")) {
		t.Error("a time that is not known is written")
	}
	if _, err := Encode(map[string]float64{"x": math.NaN()}); err == nil {
		t.Error("NaN was written; JSON has none")
	}
}

// Lists of numbers, however long, and short objects of numbers are on one line.
// Nothing else changes, and strings with brackets stay strings.
func TestListsOfNumbersTakeOneLine(t *testing.T) {
	long := make([]int, 100)
	wide := map[string]float64{}
	for i := range 20 {
		wide[fmt.Sprint("figure_", i)] = 0.5
	}
	for _, c := range []struct {
		v    any
		want string
	}{
		{[]float64{1, -2.5, 1e-9}, "[1, -2.5, 1e-9]\n"},
		{Column{new(float64), nil}, "[0, null]\n"},
		{long, "[0" + strings.Repeat(", 0", 99) + "]\n"},
		{[]string{"a, [1]", `b"}`}, "[\n  \"a, [1]\",\n  \"b\\\"}\"\n]\n"},
		{[]any{1, true}, "[\n  1,\n  true\n]\n"},
		{[][]int{{1, 2}, {}}, "[\n  [1, 2],\n  []\n]\n"},
		{map[string]any{"a:b": 1, "c": nil}, "{\"a:b\": 1, \"c\": null}\n"},
		{map[string]any{"a": map[string]any{}, "b": "x"}, "{\n  \"a\": {},\n  \"b\": \"x\"\n}\n"},
		{map[string]any{"a": []any{}}, "{\n  \"a\": []\n}\n"},
		{[]any{map[string]int{"a": 1}, map[string]bool{"b": true}}, "[\n  {\"a\": 1},\n  {\n    \"b\": true\n  }\n]\n"},
		{"[1,2]", "\"[1,2]\"\n"}, {nil, "null\n"}, {7, "7\n"},
	} {
		got, err := Encode(c.v)
		if err != nil || string(got) != c.want {
			t.Errorf("%v: %q (%v), want %q", c.v, got, err, c.want)
		}
	}
	if got, _ := Encode(wide); bytes.Count(got, []byte("\n")) != 22 {
		t.Errorf("a long object on %d lines", bytes.Count(got, []byte("\n")))
	}
	// The layout must not change the meaning.
	for _, p := range committed(t, "results", "*", "*.json") {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		var was, is any
		if err := json.Unmarshal(text, &was); err != nil {
			t.Fatal(err)
		}
		again, err := Encode(was)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(again, &is); err != nil {
			t.Fatal(err)
		}
		before, _ := json.Marshal(was)
		if after, _ := json.Marshal(is); !bytes.Equal(before, after) {
			t.Errorf("%s became another value", p)
		}
	}
}

// A run of four conditions over a wire has room for forty blocks.
func TestARunStaysBelowItsSize(t *testing.T) {
	x := turning(t)
	for blocks, full := range map[int]bool{1: false, 40: false, 60: true} {
		f := turned(t, x, blocks, false)
		text, err := Encode(f)
		if err != nil {
			t.Fatal(err)
		}
		if over := len(text) > Longest; f.Full() != full || over != full {
			t.Errorf("%d blocks: %d bytes, full: %v", blocks, len(text), f.Full())
		}
	}
	// Even if a few trials fill the file, a run has enough blocks.
	f := turned(t, x, 2, false)
	for i := range f.Trials {
		f.Trials[i].Cores = make([]Core, 1000)
	}
	if f.Full() {
		t.Error("a run of two blocks is full")
	}
}

func TestFiguresOfAMeasuredRunStandInColumns(t *testing.T) {
	f := turned(t, turning(t), 2, false)
	delete(f.Trials[1].Metrics, "latency_p50_s")
	delete(f.Trials[1].Resolution, "latency_p50_s")
	encoded, err := Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	text := string(encoded)
	if strings.Contains(text, `"metrics"`) || strings.Contains(text, `"resolution"`) ||
		!strings.Contains(text, `"workers": [`) {
		t.Errorf("figures stand beside their trials:\n%.2000s", text)
	}
	if f.Figures != nil || len(f.Trials[0].Slots) != 6 {
		t.Error("writing a file took its figures away")
	}
	read := &File{}
	if err := Decode(encoded, read); err != nil {
		t.Fatal(err)
	}
	if _, there := read.Trials[1].Metrics["latency_p50_s"]; there ||
		read.Trials[0].Metrics["latency_p50_s"] != f.Trials[0].Metrics["latency_p50_s"] ||
		read.Trials[0].Resolution["latency_p50_s"] != 1.5e-5 || len(read.Trials[1].Resolution) != 4 {
		t.Errorf("read as %+v and %+v", read.Trials[0], read.Trials[1])
	}
	for _, c := range []struct{ name, old, new, says string }{
		{"a column too long", `"workers": [1,`, `"workers": [1,1,`, "/figures/workers: 9 entries for 8 trials"},
		{"a column too short", `"workers": [1,2,`, `"workers": [1,`, "/figures/workers: 7 entries for 8 trials"},
		{"a metric that is none", `"workers": [1,`, `"turns": [1,`, `/figures: no metric "turns"`},
		{"a resolution of none", `"latency_max_s": 0.00024`, `"max": 0.00024`, `/resolutions: no metric "max"`},
		{"figures beside the trial", `{"of":"c4",`, `{"of":"c4","metrics": {},`,
			"/trials/1/metrics: that of a measured run stands in columns, in /figures"},
		{"a resolution beside the trial", `{"of":"c4",`, `{"of":"c4","resolution": {},`,
			"/trials/1/resolution: that of a measured run stands in columns, in /resolutions"},
		{"another end", `"ended": "decided"`, `"ended": "bored"`, "/provenance/ended: "},
		{"a number of a slot left out", `"slots":[[`, `"slots":[[1,2,3,4,5,6],[`, "/trials/0/slots/0: a slot has 6 numbers"},
		{"another version", `"schema_version": 3`, `"schema_version": 2`,
			"/schema_version: version 2 is not known to this lab, which reads version 3"},
	} {
		if strings.Count(text, c.old) == 0 {
			t.Fatalf("%s: %q does not stand in the run", c.name, c.old)
		}
		err := Decode([]byte(strings.Replace(text, c.old, c.new, 1)), &File{})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}
