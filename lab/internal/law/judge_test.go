package law

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden file anew")

// values has all figures of a row.
func values(row *Row) (all []Value) {
	const ids = "rate requests duration mean min max stdev connections depth underway unopened bytes byterate good bad fails erring"
	for id := range strings.FieldsSeq(ids) {
		if f, _ := FigureOf(id); row.Has(f) {
			all = append(all, Value{Figure: f, Quantity: row.Get(f)})
		}
	}
	return append(all, row.Quantiles...)
}

// What load generators printed, each read whole: testdata/README.md says which run each file is of.
func TestOutputOfLoadGenerators(t *testing.T) {
	paths, err := filepath.Glob("testdata/tools/*")
	if err != nil || len(paths) < 40 {
		t.Fatal(paths, err)
	}
	var b strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		report, err := Judge(filepath.Base(path), text, Options{each: func(name string, row *Row) {
			fmt.Fprintf(&b, "%s: %s\n", filepath.Base(path), name)
			for _, v := range values(row) {
				fmt.Fprintf(&b, "  %s %.6g %s\n", v.Name, v.Value, v.Unit)
			}
		}})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for _, f := range slices.Concat(report.Findings, report.Remarks) {
			fmt.Fprintf(&b, "  %s: %s; %s\n", f.Verdict, f.Says, f.Unless)
		}
	}
	const golden = "testdata/tools.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || b.String() != string(want) {
		t.Errorf("%v; got\n%s", err, b.String())
	}
}

// One row in forms that the shapes of planted_test.go do not have: 1,000/s of 100 ms on 64 connections.
var tables = map[string]string{
	"CSV with a title": "My results, of Monday\nname,connections,rps,avg latency (ms)\nslow,64,1000.0,100.0\n",
	"German":           "Name;Verbindungen;Anfragen/s;Mittelwert (ms)\r\nlahm;64;1.000,0;100,0\r\n",
	"tabs and commas":  "connections\trps\tmean latency, ms, lower is better\n64\t1000.0\t100.0\n",
	"turned by load":   "| concurrency | 64 |\n|---|---|\n| throughput | 1,000.0 |\n| avg latency (ms) | 100.0 |\n",
	"units below":      "| | Connections | Throughput | Mean |\n|---|---|---|---|\n| | | req/s | ms |\n| slow | 64 | 1,000.0 | 100.0 |\n",
	"spaces of HTML": "<table>\n<tr><th>Server</th><th>Connections</th><th>Requests/sec</th><th>Avg&nbsp;latency</th></tr>\n" +
		"<tr><td>slow</td><td>64</td>\n<td align=\"right\"><b>1,000.0</b></td><td>100.0&nbsp;ms</td></tr>\n</table>\n",
	"lines above":     "**Connections:** 64\n\n| Server | RPS | Avg (ms) |\n|---|---|---|\n| slow | 1,000.0 | 100.0 |\n",
	"a command above": "```\noha -c 64 http://x/\n```\n\n| Server | RPS | Avg (ms) |\n|---|---|---|\n| slow | 1,000.0 | 100.0 |\n",
	"joined by names": "**Connections:** 64\n\n| Server | RPS | Connections |\n|---|---|---|\n| one | 5 | 64 |\n\n" +
		"| Server | RPS |\n|---|---|\n| slow | 1,000.0 |\n\n| Server | Avg (ms) |\n|---|---|\n| slow | 100.0 |\n",
}

func TestEachFormOfATableIsRead(t *testing.T) {
	for form, text := range tables {
		report, err := Judge(form, []byte(text), Options{})
		if err != nil || report.Of[Unsupported] != 1 || report.Of[Unread] != 0 || len(report.Findings) != 1 ||
			!strings.HasPrefix(report.Findings[0].Unless, "pipelining is not given, and 2 on each connection would do, or wrk may") {
			t.Errorf("%s: %v %+v", form, err, report)
			continue
		}
		// What a line above a table says may be of other rows.
		want := Impossible
		if strings.Contains(text, "**Connections:**") || strings.Contains(text, "oha -c") {
			want = Unsupported
		}
		report, err = Judge(form, []byte(text), Options{Given: []string{"pipelining=1"}, MadeBy: "oha"})
		if err != nil || report.Of[want] != 1 {
			t.Errorf("%s, by oha: %v %+v", form, err, report)
		}
	}
}

// Each figure and unit, with the heads that name them.
func TestHeads(t *testing.T) {
	for want, heads := range map[string]string{
		"p99 ms":               "p99 latency (ms)|latency (p99, ms)",
		"p99 s":                "latency_p99_s",
		"p99 µs":               "99th percentile [µs]",
		"p99 ":                 "Latency (99%)|99 %",
		"p99.9 ":               "P99.9",
		"p99.9 us":             "p999_us",
		"p99.999 ":             "percentile_99.999",
		"p97.5 ":               "p97_5",
		"p95 ":                 "http_req_duration p(95)|Total p95|P95 Response",
		"p90 ":                 "90% Line",
		"p50 ":                 "median|50%|Median Response Time",
		"p50 ms":               "p50, ms|Latency (ms) p50",
		"rate ":                "Req/s|requests_per_second|throughput_rps|total_requests_per_s|RPS|Requests/sec (mean)|Avg RPS|Ops/sec|Requests / s",
		"requests ":            "totalRequests|requests|total requests|# Samples",
		"bytes a second mb/s":  "Throughput (MB/s)|MB/s",
		"bytes a second ":      "transfer_bytes_per_s|Bandwidth",
		"duration ms":          "duration_ms",
		"duration s":           "Time taken for tests (s)|wall_s",
		"mean ":                "avg latency|latencyAvg|average_latency|Latency (avg)|lat_avg|Latency",
		"mean ms":              "Latency (Avg, ms)|Mean latency, ms (lower is better)|Response time (ms)|Mittelwert (ms)",
		"stdev ":               "latencyStdev|standard_deviation|Std. Dev.",
		"stdev us":             "Latency (stdev) [us]",
		"min ":                 "lat min",
		"max ":                 "maximum_latency|Response time (max)",
		"max us":               "Latency max (us)",
		"cores busy %":         "CPU %",
		"cores ":               "cores",
		"connections ":         "concurrency|connections_established|Concurrent clients|Virtual users|VUs|Concurrency (`-c`)",
		"pipelining ":          "pipeline",
		"answers with errors ": "non_2xx|5xx",
		"good answers ":        "status_2xx",
		"failed requests ":     "errors|Error count|Failure Count",
		"share of errors ":     "Error Rate",
		"share of errors %":    "Error %",
		"": "Time (s)|Time taken (ms)|memory (MB)|threads|date|Max RPS|Reqs/sec (stdev)|RPS p99|cpu_p95 (%)|Latency (p50/p99)|Score|" +
			"RPS (10 connections)|TTFT p95 (ms)|TPS|Success %|jitter_p99_s|submit p50|Workers (`-w`)|Requests [total",
	} {
		for head := range strings.SplitSeq(heads, "|") {
			c := columnOf(head)
			got := c.unit
			if c.known() {
				got = c.figure.Name + " " + c.unit
			}
			if got != want {
				t.Errorf("%q is read as %q, want %q", head, got, want)
			}
		}
	}
}

// The judge names what a table leaves out, and accuses nobody for it; it names what a table admits as well. A case is a
// table, the verdict on all its rows, and the beginning of a reason, a remark, or a note.
func TestRemarksOnRows(t *testing.T) {
	one := Options{Given: []string{"pipelining=1"}, MadeBy: "another"}
	for _, c := range []struct {
		text    string
		o       Options
		verdict Verdict
		says    string
	}{
		{"connections,rps,latency (ms)\n64,1000.0,100.0\n", one, Unsupported, "latency (ms) may be another latency than the mean"},
		{"clients,rps,mean (ms)\n64,1000.0,100.0\n", one, Unsupported, "clients may have more than one connection each"},
		// A head without a doubt is taken, before and after.
		{"clients,connections,rps,mean (ms)\n2,64,1000.0,50.0\n", one, Sound, ""},
		{"latency (ms),mean (ms),conns,rps\n500.0,50.0,64,1000.0\n", one, Sound, ""},
		{"connections,rps,avg latency\n64,1000.0,1200\n", one, Unsupported, "the unit of avg latency is a guess"},
		{"connections,rps,avg latency\n64,1000.0,1200\n", one, Unsupported,
			"taken for ms, since no unit is given: avg latency; if it is another, say --unit 'avg latency=us'"},
		{"connections,rps,avg latency\n64,1000.0,1200\n", Options{Units: []string{"latency=us"}}, Sound, ""},
		{"connections,rps,avg latency\n64,1000.0,1200\n",
			Options{Given: one.Given, MadeBy: "another", Units: []string{"avg latency=ms"}}, Impossible, ""},
		{"connections,rps,mean (ms)\n64,1001,100.000\n", one, Unsupported, "the point of 100.000 may separate thousands"},
		{"connections,rps,mean (ms),failures\n64,1000.0,100.0,0.5%\n", one, Impossible, "failures: 1 cell could not be read"},
		{"Made with wrk.\n\n| conns | rps | mean (ms) |\n|---|---|---|\n| 64 | 1000.0 | 100.0 |\n",
			Options{Given: one.Given}, Unsupported, "wrk may have made it"},
		{"connections,rps,mean (ms),max (s)\n64,1000.0,100.0,5.00\n", one, Unsupported, "the test may have taken less than 9."},
		{"connections,offered rate,rps,mean (ms)\n64,2000,1000.0,900.0\n", one, Unheld,
			"1 row has nothing to hold against: latencies begin when a request was due"},
		{"connections,rps,mean (ms)\n64,1000.0,900.0\n", Options{MadeBy: "wrk2"}, Unheld, "1 row has nothing"},
		{"rps,mean (ms),p99 (ms)\n1000.0,100.0,200.0\n", Options{}, Unheld,
			"1 row has nothing to hold against: give --given connections=N"},
		{"connections,rps\n64,1000.0\n", Options{}, Unheld, "1 row has nothing to hold against: they have a rate and no latency"},
		// The connections are those of another part.
		{"## A\n\nConnections: 64\n\n## B\n\n| rps | mean (ms) | p50 (ms) |\n|---|---|---|\n| 1000.0 | 100.0 | 99 |\n", Options{},
			Unheld, "1 row has nothing"},
		{"connections,rps,mean (ms),Error %\n64,1000.0,60.0,100.00%\n", Options{}, Sound, "every answer is an error"},
		{"name,requests,duration (s),rps\na,100,10.0,10.0\nb,200,10.0,20.0\nTotal,300,10.0,30.0\n", Options{}, Sound,
			"the row is the sum of the 2 above"},
		{"| a | b |\n|---|---|\n| 1 | 2 |\n\n| conns | rps | mean (ms) |\n|---|---|---|\n| 64 | 1000.0 | 50.0 |\n", Options{}, Sound,
			"1 table was not used, since none of its heads is known; the first is that of line 1: a, b"},
		{"connections,rps,mean (ms),colour\n64,1000.0,50.0,red\n", Options{}, Sound, "not used: colour"},
	} {
		report, err := Judge("t", []byte(c.text), c.o)
		if err != nil || report.Of[c.verdict] != report.Rows || report.Rows == 0 {
			t.Errorf("%s%v %+v, want %q", c.text, err, report, c.verdict)
			continue
		}
		said := slices.Clone(report.Notes)
		for _, f := range slices.Concat(report.Findings, report.Remarks) {
			said = append(said, f.Unless, f.Says)
		}
		if c.says != "" && !slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, c.says) }) {
			t.Errorf("%s%q is not said: %q", c.text, c.says, said)
		}
	}
}

// A board has two counts: the rows that break a law, and those that only an allowance beyond rounding saves.
func TestWhatAllowancesSave(t *testing.T) {
	text := "connections,pipelining,rps,mean (ms)\n64,1,1000.0,64.5\n64,1,1000.0,64.0\n"
	report, err := Judge("t", []byte(text), Options{MadeBy: "another"})
	if err != nil {
		t.Fatal(err)
	}
	of := report.Laws[InFlight]
	if of.Held != 2 || len(of.Least) != 2 || of.Least[0] < 1.006 || of.Least[0] > 1.008 || of.Least[1] > 1 {
		t.Errorf("%+v: want two that hold, the first at 1.007 of its connections, and the second below one", of)
	}
}

// Several tables and outputs of tools in one text are all read, and a bad row is one finding that does not end the rest.
func TestAllOfATextIsRead(t *testing.T) {
	wrk, err := os.ReadFile("testdata/tools/wrk-reflowed.txt")
	if err != nil {
		t.Fatal(err)
	}
	table := "name,connections,rps,p50,p99\ngood,8,100,1ms,2ms\nshort,8\nodd,8,many,1ms,2ms\nwrong,8,100,4ms,2ms\n"
	text := "# Title, of rates\n\n```\n" + string(wrk) + "```\n\n" + tables["turned by load"] + "\n" + table + "\n" +
		string(wrk) + string(wrk)
	report, err := Judge("t", []byte(text), Options{MadeBy: "another"})
	if err != nil || report.Rows != 8 || report.Of[Sound] != 4 || report.Of[Unsupported] != 1 || report.Of[Impossible] != 1 ||
		report.Of[Unread] != 2 {
		t.Fatalf("%v %+v", err, report)
	}
	if f := report.Findings[1]; f.Says != "it has 2 cells, and the head has 5" || f.Line != 24 || f.Row != "line 24" {
		t.Errorf("%+v", f)
	}
	if odd := report.Findings[2]; odd.Says != `rps: "many" is no figure that can be read` || odd.Row != "odd" {
		t.Errorf("%+v", odd)
	}
}

func TestWhatIsNoTableIsToldInOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"":           "nothing was judged: no table has heads as rate",
		"a,b\n1,2\n": "nothing was judged: no table has heads as rate",
		"# Line Rate\n\nWe rerun benchmarks, and check claims.\n": "nothing was judged: no table has heads as rate",
		"| a | b |\n|---|---|\n| 1 | 2 |\n":                       "nothing was judged: 1 table was not used",
		"connections,rps\n64,many\n":                              "nothing was judged: 1 row could not be read, the first since rps:",
		"rps,mean\n1,2\n":                                         "nothing was judged: 1 row has nothing to hold against: give --given connections=N",
		"{\"latency_ms\": {\"avg\": 5.12}}":                       `t: JSON is not read, nested or flat (it begins with "latency_ms")`,
		"Concurrency Level: 1\n  0%  1\n":                         "nothing was judged",
		"<table0<tr":                                              "nothing was judged",
		"a\x00b":                                                  "t: it is no text: byte 1 is zero",
		strings.Repeat("[", 100000):                               "nothing was judged",
		strings.Repeat("a,", 3000) + "\n" + strings.Repeat("1,", 3000): "nothing was judged",
	} {
		report, err := Judge("t", []byte(text), Options{})
		got := fmt.Sprint(err)
		if err == nil {
			got = report.Nothing()
		}
		if !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
	for _, o := range []Options{{Given: []string{"colour=red"}}, {Given: []string{"connections=many"}},
		{Units: []string{"p99=parsec"}}, {MadeBy: "wkr"}} {
		if _, err := Judge("t", []byte(tables["German"]), o); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func FuzzJudge(f *testing.F) {
	for _, text := range tables {
		f.Add([]byte(text))
	}
	for _, shape := range shapes {
		f.Add([]byte(shape([][]string{{"name", "connections", "rps", "mean (ms)"}, {"slow", "64", "1000.0", "100.0"}})))
	}
	paths, _ := filepath.Glob("testdata/tools/*")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		report, err := Judge("t", text, Options{})
		if err != nil {
			return
		}
		n := 0
		for _, v := range Verdicts {
			n += report.Of[v]
		}
		if n != report.Rows || (report.Nothing() == "") != (report.Of[Impossible]+report.Of[Unsupported]+report.Of[Sound] > 0) {
			t.Errorf("%d verdicts on %d rows", n, report.Rows)
		}
	})
}

// A million rows take less than three seconds, and as many lines of anything else no more than in proportion.
func BenchmarkMillionRows(b *testing.B) {
	table := bytes.Repeat([]byte("server 12,64,1,10.03,95432.17,1.034 ms,0.61ms,1.85ms,9.11 ms\n"), 1_000_000)
	table = append([]byte("name,connections,pipelining,duration (s),rps,avg latency,p50,p99,max\n"), table...)
	for b.Loop() {
		began := time.Now()
		if _, err := Judge("t", table, Options{Most: 40}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(began).Seconds(), "s/million")
	}
}
