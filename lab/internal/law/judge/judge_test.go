package judge

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/law"
)

var update = flag.Bool("update", false, "write the golden file anew")

// values has all figures of a row.
func values(row *law.Row) (all []law.Value) {
	const ids = "rate requests duration mean min max stdev connections depth underway unopened bytes byterate good bad fails erring"
	for id := range strings.FieldsSeq(ids) {
		if f, _ := law.FigureOf(id); row.Has(f) {
			all = append(all, law.Value{Figure: f, Quantity: row.Get(f)})
		}
	}
	return append(all, row.Quantiles...)
}

// rowsOf judges a text, and gives the figures of its rows by their names.
func rowsOf(t *testing.T, name, text string, o Options) (rows []map[string]float64, report *Report) {
	t.Helper()
	o.each = func(_ string, row *law.Row) {
		figures := map[string]float64{}
		for _, v := range values(row) {
			figures[v.Name] = v.Value
		}
		rows = append(rows, figures)
	}
	report, err := Of(name, []byte(text), o)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return rows, report
}

// wants compares some figures with those of a row.
func wants(t *testing.T, name string, row map[string]float64, figures string) {
	t.Helper()
	for figure := range strings.SplitSeq(figures, ", ") {
		at := strings.LastIndexByte(figure, ' ')
		want, err := strconv.ParseFloat(figure[at+1:], 64)
		if got, ok := row[figure[:at]]; err != nil || !ok || math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: %s is read as %g (%v), want %g (%v)", name, figure[:at], got, ok, want, err)
		}
	}
}

// What load generators printed, each read whole: testdata/README.md says which run each file is of.
func TestOutputOfLoadGenerators(t *testing.T) {
	paths, err := filepath.Glob("testdata/tools/*")
	if err != nil || len(paths) < 30 {
		t.Fatal(paths, err)
	}
	var b strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		report, err := Of(filepath.Base(path), text, Options{each: func(name string, row *law.Row) {
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

// What tools print that were not run for it, as their manuals have it, and pages that changed what wrk printed.
var outputs = map[string]struct{ text, figures string }{
	"ab": {"Concurrency Level:      1000\nTime taken for tests:   1.896 seconds\nComplete requests:      100000\nFailed requests:        0\n" +
		"Total transferred:      18500000 bytes\nRequests per second:    52745.18 [#/sec] (mean)\nTime per request:       18.959 [ms] (mean)\n" +
		"Time per request:       0.019 [ms] (mean, across all concurrent requests)\nTransfer rate:          9529.16 [Kbytes/sec] received\n\n" +
		"Percentage of the requests served within a certain time (ms)\n  50%     18\n  99%     43\n 100%     49 (longest request)\n",
		"rate 52745.18, requests 100000, duration 1.896, mean 0.018959, connections 1000, bytes read 18500000, bytes a second 9757859.84, p50 0.018, p99 0.043"},
	"siege": {"** SIEGE 4.0.4\n** Preparing 25 concurrent users for battle.\n\nTransactions:                  24350 hits\nAvailability:                 100.00 %\n" +
		"Elapsed time:                   9.75 secs\nData transferred:              12.10 MB\nResponse time:                  0.01 secs\n" +
		"Transaction rate:            2497.44 trans/sec\nThroughput:                     1.24 MB/sec\nConcurrency:                   24.61\n" +
		"Failed transactions:               0\nLongest transaction:            0.12\nShortest transaction:           0.00\n",
		"rate 2497.44, requests 24350, duration 9.75, mean 0.01, max 0.12, connections 25, requests under way 24.61"},
	"locust": {"Type     Name           # reqs      # fails |    Avg     Min     Max    Med |   req/s  failures/s\n" +
		"--------|------------|-------|-------------|-------|-------|-------|-------|--------|-----------\n" +
		"GET      /a               1000     5(0.50%) |     10       5      50      9 |  100.00        0.50\n" +
		"GET      /b               2000     0(0.00%) |     10       5      50      9 |  200.00        0.00\n" +
		"--------|------------|-------|-------------|-------|-------|-------|-------|--------|-----------\n" +
		"         Aggregated       3000     5(0.17%) |     10       5      50      9 |  300.00        0.50\n",
		"rate 100, requests 1000, mean 0.01, min 0.005, max 0.05, p50 0.009, answers with errors 5"},
	"jmeter": {"summary =  10000 in 00:00:30 =  333.3/s Avg:    29 Min:     1 Max:   300 Err:     0 (0.00%)\n",
		"rate 333.3, requests 10000, duration 30, mean 0.029, min 0.001, max 0.3, answers with errors 0"},
	"gatling": {"---- Global Information --------------------\n> request count                              10000 (OK=9990   KO=10    )\n" +
		"> min response time                              1 (OK=1      KO=-     )\n> max response time                            300 (OK=300    KO=-     )\n" +
		"> mean response time                            29 (OK=29     KO=-     )\n> std deviation                                 15 (OK=15     KO=-     )\n" +
		"> response time 50th percentile                 25 (OK=25     KO=-     )\n> mean requests/sec                        333.333 (OK=333    KO=0     )\n",
		"rate 333.333, requests 10000, mean 0.029, stdev 0.015, p50 0.025, answers with errors 10"},
	"nighthawk": {"Nighthawk - A layer 7 protocol benchmarking tool.\n\nbenchmark_http_client.queue_to_connect (9 samples)\n" +
		"  min: 0s 000ms 001us | mean: 0s 000ms 002us | max: 0s 000ms 053us | pstdev: 0s 000ms 001us\n\n" +
		"benchmark_http_client.request_to_response (10000 samples)\n" +
		"  min: 0s 000ms 123us | mean: 0s 000ms 345us | max: 0s 012ms 345us | pstdev: 0s 000ms 100us\n\n" +
		"Counter                                 Value       Per second\nbenchmark.http_2xx                      10000       999.99\n",
		"rate 999.99, requests 10000, mean 0.000345, min 0.000123, max 0.012345, good answers 10000"},
	"patched wrk": {"Running 10s test @ http://server:8080/json\n  16 threads and 256 connections\n" +
		"  Thread Stats   Avg     Stdev       Max       Min   +/- Stdev\n    Latency   204.24us   23.94us  626.00us   70.00us   68.70%\n" +
		"  Latency Distribution\n  50.00%  203.00us\n  12031718 requests in 10.00s, 1.64GB read\nRequests/sec: 1203164.22\nTransfer/sec:    167.52MB\n",
		"rate 1203164.22, mean 0.00020424, max 0.000626, min 0.00007, connections 256, p50 0.000203"},
	"reflowed wrk": {"Text before.\n\nRunning 10s test @ http://localhost:2024\n6 threads and 200 connections\nThread Stats Avg Stdev Max +/- Stdev\n" +
		"Latency 27.86ms 40.65ms 281.40ms 93.06%\nReq/Sec 1.04k 398.73 1.47k 81.17%\n16225 requests in 2.83s, 1.04MB read\n" +
		"Socket errors: connect 0, read 16688, write 3, timeout 0\nRequests/sec: 5732.98\nTransfer/sec: 375.11KB\n",
		"rate 5732.98, requests 16225, duration 2.83, mean 0.02786, failed requests 16691, connections 200"},
}

func TestOutputsAsManualsHaveThem(t *testing.T) {
	for name, of := range outputs {
		rows, report := rowsOf(t, name, of.text, Options{})
		if len(rows) == 0 || report.Of[Sound]+report.Of[Unheld] != len(rows) {
			t.Errorf("%s: %d rows, %+v", name, len(rows), report)
			continue
		}
		wants(t, name, rows[0], of.figures)
	}
	_, report := rowsOf(t, "locust", outputs["locust"].text, Options{})
	if len(report.Remarks) != 1 || report.Remarks[0].Says != "the row is the sum of the 2 above: do not add it to them" {
		t.Errorf("%+v", report)
	}
}

// One row in each form of table, with the same figures: 1,000/s of 100 ms on 64 connections.
var tables = map[string]string{
	"CSV with a title":  "My results, of Monday\nname,connections,rps,avg latency (ms)\nslow,64,1000.0,100.0\n",
	"German":            "Name;Verbindungen;Anfragen/s;Mittelwert (ms)\r\nlahm;64;1.000,0;100,0\r\n",
	"tabs and commas":   "connections\trps\tmean latency, ms, lower is better\n64\t1000.0\t100.0\n",
	"Markdown":          "# A table\n\n| Server | Concurrency | Requests/sec | Avg latency |\n|---|--:|---:|---|\n| **slow** | 64 | 1,000.0 | 100.0 ms |\n",
	"turned by load":    "| concurrency | 64 |\n|---|---|\n| throughput | 1,000.0 |\n| avg latency (ms) | 100.0 |\n",
	"two lines of head": ",load,,latency\nname,connections,req/s,avg (ms)\nslow,64,1000.0,100.0\n",
	"units below":       "| Server | Connections | Throughput | Mean |\n|---|---|---|---|\n| | | req/s | ms |\n| slow | 64 | 1,000.0 | 100.0 |\n",
	"HTML": "<table>\n<tr><th>Server</th><th>Connections</th><th>Requests/sec</th><th>Avg&nbsp;latency</th></tr>\n" +
		"<tr><td>slow</td><td>64</td>\n<td align=\"right\"><b>1,000.0</b></td><td>100.0&nbsp;ms</td></tr>\n</table>\n",
	"HTML with a head": "<details><table><thead><tr><th>Server</th><th>Connections</th><th>RPS</th><th>Avg (ms)</th></tr></thead>" +
		"<tbody><tr><th>slow</th><td>64</td><td>1,000.0</td><td>100.0</td></tr></tbody></table></details>\n",
	"lines above":     "**Connections:** 64\n\n| Server | RPS | Avg (ms) |\n|---|---|---|\n| slow | 1,000.0 | 100.0 |\n",
	"a command above": "```\noha -z 10s -c 64 http://x/\n```\n\n| Server | RPS | Avg (ms) |\n|---|---|---|\n| slow | 1,000.0 | 100.0 |\n",
	"joined by names": "| Server | RPS | Connections |\n|---|---|---|\n| one | 5 | 64 |\n\n| Server | RPS |\n|---|---|\n| slow | 1,000.0 |\n\n| Server | Avg (ms) |\n|---|---|\n| slow | 100.0 |\n",
}

func TestEachFormOfATableIsRead(t *testing.T) {
	for form, text := range tables {
		o := Options{}
		if form == "joined by names" {
			o.Given = []string{"connections=64"}
		}
		report, err := Of(form, []byte(text), o)
		if err != nil || report.Of[Unsupported] != 1 || report.Of[Unread] != 0 || len(report.Findings) != 1 || report.Findings[0].Law != law.InFlight ||
			!strings.HasPrefix(report.Findings[0].Unless, "pipelining is not given, and 2 on each connection would do, or wrk may have made it") {
			t.Errorf("%s: %v %+v", form, err, report)
			continue
		}
		// What a line above a table says may be of other rows.
		want := Impossible
		if strings.Contains(text, "**Connections:**") || strings.Contains(text, "oha -z") {
			want = Unsupported
		}
		o.Given, o.MadeBy = append(o.Given, "pipelining=1"), "oha"
		if report, err = Of(form, []byte(text), o); err != nil || report.Of[want] != 1 {
			t.Errorf("%s, by oha: %v %+v", form, err, report)
		}
	}
}

func TestHeads(t *testing.T) {
	for head, want := range map[string]string{
		"p99 latency (ms)": "p99 ms", "latency_p99_s": "p99 s", "P99.9": "p99.9 ", "p999_us": "p99.9 us", "percentile_99.999": "p99.999 ",
		"99th percentile [µs]": "p99 µs", "median": "p50 ", "50%": "p50 ", "p97_5": "p97.5 ",
		"Req/s": "rate ", "requests_per_second": "rate ", "throughput_rps": "rate ", "total_requests_per_s": "rate ", "RPS": "rate ",
		"Throughput (MB/s)": "bytes a second mb/s", "transfer_bytes_per_s": "bytes a second ", "Bandwidth": "bytes a second ",
		"totalRequests": "requests ", "requests": "requests ", "total requests": "requests ", "duration_ms": "duration ms", "Time (s)": "",
		"avg latency": "mean ", "latencyAvg": "mean ", "average_latency": "mean ", "latencyStdev": "stdev ", "standard_deviation": "stdev ",
		"maximum_latency": "max ", "Latency max (us)": "max us", "CPU %": "cores busy %", "cores": "cores ", "concurrency": "connections ",
		"connections_established": "connections ", "pipeline": "pipelining ", "non_2xx": "answers with errors ", "5xx": "answers with errors ",
		"status_2xx": "good answers ", "errors": "failed requests ", "memory (MB)": "", "threads": "", "date": "", "lat min": "min ",
		"Latency (avg)": "mean ", "Latency (Avg, ms)": "mean ms", "Latency (99%)": "p99 ", "99 %": "p99 ", "lat_avg": "mean ", "Response time (max)": "max ",
		"Latency (stdev) [us]": "stdev us", "Requests/sec (mean)": "rate ", "Avg RPS": "rate ", "Ops/sec": "rate ", "Requests / s": "rate ",
		"MB/s": "bytes a second mb/s", "Mean latency, ms (lower is better)": "mean ms", "Concurrent clients": "connections ", "Virtual users": "connections ",
		"Max RPS": "", "Reqs/sec (stdev)": "", "RPS p99": "", "cpu_p95 (%)": "", "Latency (p50/p99)": "", "RPS (10 connections)": "",
		"http_req_duration p(95)": "p95 ", "Time taken for tests (s)": "duration s", "Time taken (ms)": "", "Error count": "failed requests ", "Score": "",
		"Latency": "mean ", "Response time (ms)": "mean ms", "TTFT p95 (ms)": "", "TPS": "", "Success %": "", "Concurrency (`-c`)": "connections ",
		"jitter_p99_s": "", "submit p50": "", "Total p95": "p95 ", "P95 Response": "p95 ", "Workers (`-w`)": "",
		"90% Line": "p90 ", "# Samples": "requests ", "Error %": "share of errors %", "Error Rate": "share of errors ", "Failure Count": "failed requests ",
		"Median Response Time": "p50 ", "wall_s": "duration s", "VUs": "connections ", "p50, ms": "p50 ms", "Mittelwert (ms)": "mean ms",
	} {
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

// A case is a table, and the judgement.
type saidCase struct {
	name, text string
	o          Options
	verdict    Verdict
	says       string // the beginning of the reason, of the remark, or of a note
}

// The judgement names what a table leaves out, and accuses nobody for that; it names what the table
// admits as well.
func TestWhatIsSaidOfRows(t *testing.T) {
	one := Options{Given: []string{"pipelining=1"}, MadeBy: "another"}
	with := func(o Options, change func(*Options)) Options {
		change(&o)
		return o
	}
	for _, c := range []saidCase{
		{"a doubtful head", "connections,rps,latency (ms)\n64,1000.0,100.0\n", one, Unsupported, "latency (ms) may be another latency than the mean"},
		{"users", "clients,rps,mean (ms)\n64,1000.0,100.0\n", one, Unsupported, "clients may have more than one connection each"},
		{"a head without a doubt is taken before", "clients,connections,rps,mean (ms)\n2,64,1000.0,50.0\n", one, Sound, ""},
		{"and after", "latency (ms),mean (ms),conns,rps\n500.0,50.0,64,1000.0\n", one, Sound, ""},
		{"a guessed unit", "connections,rps,avg latency\n64,1000.0,1200\n", one, Unsupported, "the unit of avg latency is a guess"},
		{"a note on it", "connections,rps,avg latency\n64,1000.0,1200\n", one, Unsupported, "taken for ms, since no unit is given: avg latency; if it is another, say --unit 'avg latency=us'"},
		{"a unit given", "connections,rps,avg latency\n64,1000.0,1200\n", with(one, func(o *Options) { o.Units = []string{"latency=us"} }), Sound, ""},
		{"another", "connections,rps,avg latency\n64,1000.0,1200\n", with(one, func(o *Options) { o.Units = []string{"avg latency=ms"} }), Impossible, ""},
		{"points alone", "connections,rps,mean (ms)\n64,1001,100.000\n", one, Unsupported, "the point of 100.000 may separate thousands"},
		{"a share in place of a count", "connections,rps,mean (ms),failures\n64,1000.0,100.0,0.5%\n", one, Impossible, "failures: 1 cell could not be read"},
		{"wrk", "connections,rps,mean (ms)\n64,1000.0,100.0\n", with(one, func(o *Options) { o.MadeBy = "wrk" }), Unsupported, "wrk adds latencies"},
		{"a text that names wrk", "Made with wrk.\n\n| conns | rps | mean (ms) |\n|---|---|---|\n| 64 | 1000.0 | 100.0 |\n", Options{Given: []string{"pipelining=1"}},
			Unsupported, "wrk adds latencies"},
		{"nobody knows the tool", "connections,rps,mean (ms)\n64,1000.0,100.0\n", Options{Given: []string{"pipelining=1"}}, Unsupported, "wrk may have made it"},
		{"a short test", "connections,rps,mean (ms),max (s)\n64,1000.0,100.0,5.00\n", one, Unsupported, "the test may have taken less than 9."},
		{"a rate that is kept", "connections,offered rate,rps,mean (ms)\n64,2000,1000.0,900.0\n", one, Unheld, "1 row has nothing to hold against: latencies begin when a request was due"},
		{"latencies from when due", "connections,rps,mean (ms)\n64,1000.0,900.0\n", with(one, func(o *Options) { o.MadeBy = "wrk2" }), Unheld, "1 row has nothing"},
		{"no connections", "rps,mean (ms),p99 (ms)\n1000.0,100.0,200.0\n", Options{}, Unheld, "1 row has nothing to hold against: give --given connections=N"},
		{"no latency", "connections,rps\n64,1000.0\n", Options{}, Unheld, "1 row has nothing to hold against: they have a rate and no latency"},
		{"other connections of a line above", "## A\n\nConnections: 64\n\n## B\n\n| rps | mean (ms) | p50 (ms) |\n|---|---|---|\n| 1000.0 | 100.0 | 99 |\n", Options{}, Unheld, ""},
		{"concurrency never reached", "connections,rps,mean (ms)\n800,1000.0,100.0\n", Options{}, Sound, "about 100 of 800 connections had a request under way"},
		{"failures", "connections,rps,mean (ms),failures\n300,1772,166,19943\n", Options{Given: []string{"duration=30s"}}, Sound, "19,943 requests failed, for 53,160 answers"},
		{"errors alone", "connections,rps,mean (ms),Error %\n64,1000.0,60.0,100.00%\n", Options{}, Sound, "every answer is an error"},
		{"the sum of others", "name,requests,duration (s),rps\na,100,10.0,10.0\nb,200,10.0,20.0\nTotal,300,10.0,30.0\n", Options{}, Sound, "the row is the sum of the 2 above"},
		{"a table that is not used", "| a | b |\n|---|---|\n| 1 | 2 |\n\n| conns | rps | mean (ms) |\n|---|---|---|\n| 64 | 1000.0 | 50.0 |\n", Options{}, Sound,
			"1 table was not used, since none of its heads is known; the first is that of line 1: a, b"},
		{"columns that are not used", "connections,rps,mean (ms),colour\n64,1000.0,50.0,red\n", Options{}, Sound, "not used: colour"},
	} {
		report, err := Of(c.name, []byte(c.text), c.o)
		if err != nil || report.Of[c.verdict] != report.Rows || report.Rows == 0 {
			t.Errorf("%s: %v %+v", c.name, err, report)
			continue
		}
		said := slices.Clone(report.Notes)
		for _, f := range slices.Concat(report.Findings, report.Remarks) {
			said = append(said, f.Unless, f.Says)
		}
		if c.says != "" && !slices.ContainsFunc(said, func(s string) bool { return strings.HasPrefix(s, c.says) }) {
			t.Errorf("%s: %q is not said: %q", c.name, c.says, said)
		}
	}
}

// Several tables and outputs of tools in one text are all read, and one bad row is one finding that does not end the rest.
func TestAllOfATextIsRead(t *testing.T) {
	wrk, table := outputs["reflowed wrk"].text, "name,connections,rps,p50,p99\ngood,8,100,1ms,2ms\nshort,8\nodd,8,many,1ms,2ms\nwrong,8,100,4ms,2ms\n"
	report, err := Of("t", []byte("# Title, of rates\n\n```\n"+wrk+"```\n\n"+tables["Markdown"]+"\n"+table+"\n"+wrk+wrk), Options{MadeBy: "another"})
	if err != nil || report.Rows != 8 || report.Of[Sound] != 4 || report.Of[Unsupported] != 1 || report.Of[Impossible] != 1 || report.Of[Unread] != 2 {
		t.Fatalf("%v %+v", err, report)
	}
	if short := report.Findings[1]; short.Says != "it has 2 cells, and the head has 5" || short.Line != 25 {
		t.Errorf("%+v", short)
	}
	if odd := report.Findings[2]; odd.Says != `rps: "many" is no figure that can be read` || odd.Row != "odd" {
		t.Errorf("%+v", odd)
	}
}

func TestWhatIsNoTableIsToldInOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"":           "nothing was judged: no table has heads as rate",
		"a,b\n1,2\n": "nothing was judged: no table has heads as rate",
		"# Line Rate\n\nWe rerun benchmarks, and check claims.\n":      "nothing was judged: no table has heads as rate",
		"| a | b |\n|---|---|\n| 1 | 2 |\n":                            "nothing was judged: 1 table was not used",
		"connections,rps\n64,many\n":                                   `nothing was judged: 1 row could not be read, the first since rps: "many"`,
		"rps,mean\n1,2\n":                                              "nothing was judged: 1 row has nothing to hold against: give --given connections=N",
		"{\"latency_ms\": {\"avg\": 5.12}}":                            `t: JSON is not read, nested or flat (it begins with "latency_ms")`,
		"a\x00b":                                                       "t: it is no text: byte 1 is zero",
		strings.Repeat("[", 100000):                                    "nothing was judged",
		strings.Repeat("a,", 3000) + "\n" + strings.Repeat("1,", 3000): "nothing was judged",
	} {
		report, err := Of("t", []byte(text), Options{})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = report.Nothing()
		}
		if !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%.20q: %q, want %q", text, got, want)
		}
	}
	for _, o := range []Options{{Given: []string{"colour=red"}}, {Given: []string{"connections=many"}}, {Units: []string{"p99=parsec"}}, {MadeBy: "wkr"}} {
		if _, err := Of("t", []byte(tables["German"]), o); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func FuzzOf(f *testing.F) {
	for _, text := range tables {
		f.Add([]byte(text))
	}
	for _, shape := range shapes {
		f.Add([]byte(shape([][]string{{"name", "connections", "rps", "mean (ms)"}, {"slow", "64", "1000.0", "100.0"}})))
	}
	for _, of := range outputs {
		f.Add([]byte(of.text))
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
		report, err := Of("t", text, Options{})
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
		if _, err := Of("t", table, Options{Most: 40}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(began).Seconds(), "s/million")
	}
}
