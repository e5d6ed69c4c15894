package tell

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/compare"
)

var update = flag.Bool("update", false, "write the golden files anew; then look at them")

// golden compares text with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what it was; -update writes it anew:\n%s", path, got)
	}
}

// outcome is a possible result of a run of three servers, with all flags.
func outcome() *compare.Outcome {
	bytes, err := os.ReadFile("testdata/outcome.json")
	if err != nil {
		panic(err)
	}
	o := &compare.Outcome{}
	if err := json.Unmarshal(bytes, o); err != nil {
		panic(err)
	}
	for n := range o.Servers {
		m, v := &o.Servers[n], float64(n)
		m.MemoryLoad, m.Calls = 23.1e6+1e6*v, 6.31-v
		m.CallsBy = map[string]float64{"read": 2, "write": 2 - v, "epoll_pwait": 1.31, "futex": 1, "madvise": 0.002,
			"a|`b`": 0.25 * v, "c": 0.01, "d": 0.02, "e": 0.03, "f": 0.04}
	}
	o.Servers = append(o.Servers, compare.Measured{Name: "a_b", URL: "http://10.0.0.1:80", Bound: "client-cpu"})
	o.Comparisons = append(o.Comparisons, compare.Comparison{Name: "a_b", Base: o.Servers[0].Name, Verdict: compare.Invalid,
		Says: "no verdict: gates refused 7 of 14 trials (a_b: <b>@you</b> `#1`)"})
	at := func(s, low, high float64) *compare.Latency { return &compare.Latency{Seconds: s, Low: low, High: high} }
	o.Curve = &compare.Curve{ClosedLoopRPS: 78775, Slowest: "buffer-4096", SlotS: 0.5, Blocks: 7, Points: []compare.Point{
		{Server: "buffer-4096", RateRPS: 7878, P50: at(91e-6, 88e-6, 95e-6), P90: at(150e-6, 140e-6, 160e-6),
			P99: at(320e-6, 290e-6, 410e-6), P999: at(1.1e-3, 0, 0)},
		{Server: "buffer-8192", RateRPS: 7878, P50: at(71e-6, 68e-6, 75e-6), P90: at(110e-6, 100e-6, 120e-6),
			P99: at(220e-6, 190e-6, 310e-6)},
		{Server: "buffer-4096", RateRPS: 70898, P50: at(491e-6, 388e-6, 695e-6), P90: at(2e-3, 1e-3, 3e-3),
			P99: at(9e-3, 6e-3, 12e-3), P999: at(20e-3, 15e-3, 31e-3)},
		{Server: "buffer-8192", RateRPS: 70898, Refused: "the client sent a hundredth of its requests more than 1.4 ms late"},
	}}
	o.Protocol = "HTTP/2 over TLS"
	o.Why = &compare.Why{Source: "perf", Rounds: 7, WindowS: 1, Comparisons: []compare.Reasons{{Name: "buffer-8192", Base: "buffer-4096",
		Says: "most",
		Kinds: []compare.Reason{
			{Kind: "system call: write", Base: 5e-6, Other: 8.9e-6, Difference: 3.9e-6, Low: 3.5014e-6, High: 4.1001e-6, Share: 0.93},
			{Kind: "own code", Base: 7e-6, Other: 6.9e-6, Difference: -0.1e-6, Low: -0.2e-6, High: 1e-9}},
		All: compare.Reason{Kind: "all", Base: 12e-6, Other: 16.2e-6, Difference: 4.2e-6, Low: 4e-6, High: 4.5e-6}}}}
	o.Notes = append(o.Notes, "it answered <script>alert(1)</script>\n```\n# and more")
	return o
}

func TestWhatIsPrintedStaysWhatItWas(t *testing.T) {
	golden(t, "lines.txt", strings.Join(Lines(outcome(), true), "\n")+"\n")
	golden(t, "first.txt", strings.Join(Lines(outcome(), false), "\n")+"\n")
	golden(t, "comment.md", Markdown(outcome()))
}

// One backquote begins the code and one ends it, whatever the text is.
func TestTextOfOthersIsNoMarkup(t *testing.T) {
	for _, text := range []string{"<script>alert(1)</script>", "a | b", "`` `x` ``", "\\`x", "[x](javascript:y)",
		"@line-rate/everyone #1 GH-1 0123456789abcdef0123456789abcdef01234567", "one\ntwo\r\n\n# head\n- item",
		"\x1b[2J\x1b]0;title\x07", "\u009b31m", "left\u202eright\u2066", "\x00", "\xff\xfe", "&lt;b&gt;", "zero\u200bwidth",
		"`", "``", "a`"} {
		got := inline(text)
		inside := strings.TrimSuffix(strings.TrimPrefix(got, "`"), "`")
		if len(inside) != len(got)-2 || inside == "" || strings.ContainsAny(inside, "|`\n\r") {
			t.Errorf("%q: %s", text, got)
		}
	}
}
