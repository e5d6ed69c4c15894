package site

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/madeup"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// buffers is an experiment on two routes. On one of them the larger buffer saves a third of what a request costs.
var buffers = strings.NewReplacer(`entry = "11"`, `entry = "12"`, `kind = "loopback"`, `kind = "netns"
line_rate_bps = 500_000_000
burst_bytes = 16_384
queue_s = 0.01`, "route = \"/read\"\n", "", "connections = 20", "connections = 1000", "levels = [1024, 4096, 8192]", `levels = [4096, 8192]

[[factors]]
name = "route"
levels = ["/read", "/read-gz"]`, "levels = [1024, 8192]", `at = {route = "/read"}`, "costs-less", "saves", "A larger buffer saves CPU",
	"The larger buffer saves CPU", `not here."
metric = "server_cpu_per_request_s"`, `not here."
metric = "throughput_rps"`).Replace(states) + `
[[claims]]
id = "same-on-gz"
kind = "flat"
text = "On a small answer it changes nothing."
why = "Small answers fit."
metric = "server_cpu_per_request_s"
over = "write_buffer"
at = {route = "/read-gz"}
margin = 0.1
`

// buffered is a journal with a measured experiment, one that nobody has run, and pages.
func buffered(t *testing.T, prose string) journal.Root {
	t.Helper()
	root := archivetest.Clone(t)
	archivetest.Write(t, root.Experiment("12-unrun"), buffers)
	made(t, root, "12-buffer", buffers, archivetest.Host, 14, func(levels setting.Levels, _ int) madeup.Came {
		c := madeup.Came{CostS: 12e-6, Noise: 1e-9, ServerBusy: 0.5}
		if levels["write_buffer"] == setting.Int(8192) && levels["route"] == setting.String("/read") {
			c.CostS = 8e-6
		}
		return c
	})
	archivetest.Write(t, root.Path("content", "journal", "12-buffer.md"), "+++\nnumber = \"12\"\ntitle = \"A write buffer\"\n"+
		"date = 2026-11-20\nexperiments = [\"12-buffer\", \"12-unrun\"]\n+++\n\n"+prose)
	return root
}

func TestReferences(t *testing.T) {
	s, err := Make(buffered(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	for reference, want := range map[string]string{
		"12-buffer value server_cpu_per_request_s write_buffer=8192 route=/read": "8.000 µs",

		"12-buffer sum server_cpu_per_request_s server_cpu_per_request_s write_buffer=8192 route=/read": "16.0 µs",

		"12-buffer ratio server_cpu_per_request_s write_buffer=8192/4096 route=/read":       "0.667",
		"12-buffer ratio server_cpu_per_request_s write_buffer='8192'/'4096' route='/read'": "0.667",
		"12-buffer change server_cpu_per_request_s write_buffer=8192/4096 route=/read":      "−33 %",
		"12-buffer fall server_cpu_per_request_s write_buffer=8192/4096 route=/read":        "33 %",
		"12-buffer interval server_cpu_per_request_s write_buffer=8192/4096 route=/read":    "0.667 to 0.667",

		"12-buffer set write_buffer":  "4,096 and 8,192",
		"12-buffer set connections":   "1,000",
		"12-buffer set line_rate_bps": "500 Mbit/s",
		"12-buffer edge saves":        "0.8",
		"12-buffer edge same-on-gz":   "10 %",
		"12-buffer claim gone":        "A claim of before. claims/12-buffer/#gone",
		"12-buffer verdict saves":     "confirmed The larger buffer saves CPU time. claims/12-buffer/#saves",
		"12-unrun verdict saves":      "The larger buffer saves CPU time. claims/12-unrun/#saves",

		"12-unrun value server_cpu_per_request_s write_buffer=8192 route=/read":      "not measured yet",
		"12-unrun ratio server_cpu_per_request_s write_buffer=8192/4096 route=/read": "not measured yet",
		"12-buffer change throughput_rps write_buffer=8192/4096":                     "not measured yet",

		"11/read value throughput_rps pipelining=50":  "1,340,654",
		"11/read rise throughput_rps pipelining=50/1": "1.4 %",
		"11/threads set route":                        "/read",
		"11 implied rule_product":                     "272 MB/s",

		"lab alpha":            "5 %",
		"simulation campaigns": "1,000",
		"entry 12":             "entry 12 A write buffer journal/12-buffer/",
		"Entry 12":             "Entry 12 A write buffer journal/12-buffer/",
		"c8i-32xlarge cores":   "128",
	} {
		n, err := s.resolve(reference)
		got := strings.Join(strings.Fields(strings.Join([]string{string(n.Verdict), n.Text, n.Title, n.To}, " ")), " ")
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", reference, got, err, want)
		}
	}
}

func TestReferencesToSeveralThings(t *testing.T) {
	s, err := Make(buffered(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	table, err := s.resolve("12-buffer results costs server_cpu_per_request_s route=/read")
	if err != nil || len(table.Table.Rows) != 2 || !strings.HasPrefix(table.Table.Rows[1].ID, "costs-") {
		t.Errorf("%+v, %v: want the two conditions of a route", table.Table, err)
	}
	for reference, want := range map[string][]Number{
		"12-buffer outcomes saves same-on-gz": {
			{Verdict: "confirmed", Title: "The larger buffer saves CPU time.", To: "claims/12-buffer/#saves",
				Note: "0.667 (0.667 to 0.667); claimed: 0.80 or less"},
			{Verdict: "confirmed", Title: "On a small answer it changes nothing.", To: "claims/12-buffer/#same-on-gz",
				Note: "1.000 (1.000 to 1.000); claimed: 0.909 to 1.100"}},
		"12-buffer headline saves":              {{Text: "−33"}, {Text: "0.667", Title: "0.667 to 0.667"}},
		"12-unrun results costs throughput_rps": nil,
	} {
		n, err := s.resolve(reference)
		for i := range n.List {
			n.List[i].Value = nil
		}
		if err != nil || !reflect.DeepEqual(n.List, want) {
			t.Errorf("%s: %+v, %v; want %+v", reference, n.List, err, want)
		}
	}
}

func TestAReferenceToNothing(t *testing.T) {
	s, err := Make(buffered(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	for reference, want := range map[string]string{
		"":                               "it is empty",
		"12-bufer value throughput_rps":  `did you mean "12-buffer"?`,
		"11/raed value throughput_rps":   `did you mean "11/read"`,
		"12-buffer valeu throughput_rps": `did you mean "value"?`,
		"12-buffer printed line":         `there is no form "printed"`,
		"11/read verdict saves":          `no table has the form "verdict"`,
		"12-buffer value":                "value takes a metric, and the levels of one condition",
		"12-buffer value throughput_rp":  `did you mean "throughput_rps"?`,

		"12-buffer value throughput_rps write_buffer=8192":                           "2 conditions of 12-buffer have these levels",
		"12-buffer value throughput_rps write_buffer=8191":                           "no condition of 12-buffer has write_buffer=8191\n  did you mean \"write_buffer=8192\"?",
		"12-buffer value throughput_rps write_bufer=8192":                            "did you mean \"write_buffer=8192\"?",
		"12-unrun value throughput_rps write_buffer=1":                               "did you mean \"write_buffer=8192\"?",
		"12-unrun ratio server_cpu_per_request_s write_buffer=8192/1":                "did you mean \"write_buffer=8192\"?",
		"12-buffer value batches write_buffer=8192 route=/read":                      `there is no metric "batches"`,
		"11/read value latency_max_s pipelining=50":                                  "11/read has no latency_max_s there",
		"12-buffer ratio server_cpu_per_request_s route=/read":                       "it compares nothing",
		"12-buffer ratio server_cpu_per_request_s write_buffer=8192/4096":            "in several ways",
		"12-buffer ratio throughput_rps route=/read-gz//read":                        "",
		"12-buffer ratio server_cpu_per_request_s route=/read-gz//read":              "no claim of 12-buffer compares this",
		"12-buffer rise server_cpu_per_request_s write_buffer=8192/4096 route=/read": "the ratio is 0.667, which is no rise",

		"12-buffer sum throughput_rps write_buffer=8192 route=/read":                          "sum takes metrics of one unit",
		"12-buffer sum throughput_rps server_cpu_per_request_s write_buffer=8192 route=/read": "have two units",

		"12-buffer edge save":        `did you mean "saves"?`,
		"12-buffer verdict gone":     `has no claim "gone"`,
		"12-buffer outcomes saves a": `has no claim "a"`,
		"12-buffer set conections":   `did you mean "connections"?`,
		"11 printed lin":             `did you mean "printed line"?`,
		"11 implied line":            `11 has no "implied line"`,
		"lab alfa":                   `did you mean "alpha"?`,

		"12-buffer value throughput_rps route='/read": "a ' has no other",
		"12-buffer value throughput_rps =3":           `"=3" is no level`,
		"12-buffer value throughput_rps a=1 a=2":      "a is given twice",
	} {
		if _, err := s.resolve(reference); want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v; want %q", reference, err, want)
		}
	}
}

func TestAWrongReferenceHasAPlace(t *testing.T) {
	_, err := Make(buffered(t, "Twice {{< n \"lab alfa\" >}}.\n\n{{</* n \"lab b\" */>}} {{< table of=\"12-buffer results a b\" title=\"T\" >}}\n"))
	for _, want := range []string{`content/journal/12-buffer.md:8: "lab alfa": `, `content/journal/12-buffer.md:10: "12-buffer results a b": `} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	if err != nil && strings.Contains(err.Error(), "lab b") {
		t.Errorf("%v: what is only shown was read", err)
	}
}

func FuzzParseReference(f *testing.F) {
	for _, text := range []string{"", "12/ramp value a b=c", "x ratio y route=/read-gz//read", "x max y route='60 % /read'/'a b'", "'", "a =", "a b==c"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseReference(text)
		if err != nil {
			return
		}
		again := append([]string{r.subject, r.form}, r.names...)
		for name, v := range r.levels {
			if v == "" || strings.Contains(v, "'") {
				t.Errorf("%q: %s is %q", text, name, v)
			}
			again = append(again, name+"='"+v+"'/'"+r.base[name]+"'")
		}
		if r.form == "" { // then names come first, which no form has
			return
		}
		if same, err := parseReference(strings.Join(again, " ")); err != nil || !maps.Equal(r.levels, same.levels) ||
			!maps.Equal(r.base, same.base) || !slices.Equal(r.names, same.names) {
			t.Errorf("%q is %+v, and written anew %+v, %v", text, r, same, err)
		}
	})
}
