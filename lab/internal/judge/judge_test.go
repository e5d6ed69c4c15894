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
	"github.com/line-rate/line-rate/lab/internal/metric"
)

var update = flag.Bool("update", false, "write the golden file anew")

// called are the figures of a row in words, in their order.
var called = [...]string{"rate", "requests", "duration", "mean", "min", "max", "stdev", "connections", "pipelining",
	"bytes read", "bytes a second", "body", "cores busy", "cores", "good answers", "answers with errors", "failed requests", "line rate"}

// all gives each figure of a row, with its name and unit.
func all(row *law.Row, give func(name string, q law.Quantity, in metric.Unit)) {
	for f, name := range called {
		if q, has := row.Get(law.Figure(f)); has {
			give(name, q, law.Units[f])
		}
	}
	for _, q := range row.Quantiles {
		give(law.Numbered(q.Share), q.Quantity, metric.Second)
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
		report, err := Of(filepath.Base(path), text, Options{Each: func(name string, row *law.Row) {
			fmt.Fprintf(&b, "%s: %s\n", filepath.Base(path), name)
			all(row, func(name string, q law.Quantity, in metric.Unit) {
				fmt.Fprintf(&b, "  %s %.6g %s\n", name, q.Value, in)
			})
		}})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for _, f := range report.Findings {
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

// Figures that a person read in what wrk2 and k6 printed: a row of a file, its tool, its verdict, and figures in base units.
func TestFiguresOfWrk2AndK6(t *testing.T) {
	for _, of := range []struct {
		file    string
		row     int
		form    string
		verdict Verdict
		figures string
	}{
		{"wrk2-calibrated.txt", 0, "output of wrk2", Sound, "rate 1998.65, requests 21988, duration 11, mean 0.00086, stdev 0.00036499, max 0.00334, connections 8, p50 0.00087, p99.9 0.00232, p100 0.00334"},
		{"wrk2-latency.txt", 0, "output of wrk2", Sound, "rate 1996.93, requests 7988, duration 4, mean 0.0009, p90 0.00138, p99 0.00169"},
		// The recorded latencies, from when a request was due, and not those below them.
		{"wrk2-uncorrected.txt", 0, "output of wrk2", Sound, "rate 1997.12, mean 0.00087, stdev 0.00038106, p50 0.00087, p99 0.00168, p100 0.00309"},
		{"wrk2-behind.txt", 0, "output of wrk2", Sound, "rate 1413.94, requests 15556, mean 7.53, stdev 0.20222, max 7.88, p50 7.54, p99 7.88, p99.999 7.89"},
		{"wrk2-nolatency.txt", 0, "output of wrk2", Sound, "rate 1399.26, requests 5599, mean 1.46, stdev 0.8301, max 2.88"},
		{"wrk2-errors.txt", 0, "output of wrk2", Unsupported, "requests 7989, answers with errors 3994, max 0.00409, p99 0.00171"},
		{"wrk2-timeouts.txt", 0, "output of wrk2", Sound, "rate 196.65, requests 792, duration 4.03, failed requests 8, p50 0.00099"},
		{"k6-default.txt", 0, "output of k6", Sound, "rate 16159.924287, requests 48485, mean 0.0004563, min 0.00001822, p50 0.00024405, max 0.04054, p90 0.00080483, p95 0.00148, connections 8, bytes read 6.3e6, bytes a second 2.1e6, answers with errors 0"},
		{"k6-full.txt", 0, "output of k6", Sound, "rate 16561.037888, requests 49740, mean 0.00044142, max 0.02043, connections 8"},
		{"k6-legacy.txt", 0, "output of k6", Sound, "rate 16181.003934, requests 48548, mean 0.00045953, max 0.05063, connections 8"},
		{"k6-stats.txt", 0, "output of k6", Sound, "rate 21769.740154, mean 0.00034, min 0.00002, p50 0.00024, p99 0.00178, p99.9 0.00392, max 0.00882"},
		{"k6-errors.txt", 0, "output of k6", Unsupported, "requests 41834, answers with errors 20917, mean 0.00052027, p95 0.00151"},
		{"k6-errors-legacy.txt", 0, "output of k6", Unsupported, "requests 49827, answers with errors 24913"},
		{"k6-text.txt", 0, "output of k6", Sound, "requests 3012451, answers with errors 0"},
		{"k6-batch.txt", 0, "output of k6", Unsupported, "rate 5234.123788, mean 0.00575, connections 8"},
		// The whole run, its scenarios, and a group of the second.
		{"k6-scenarios.txt", 0, "output of k6", Sound, "rate 1200.090176, requests 3608, mean 0.00338, max 0.00795, connections 12, answers with errors 0"},
		{"k6-scenarios.txt", 1, "output of k6", Sound, "rate 700.828714, requests 2107, mean 0.00566, min 0.00504"},
		{"k6-scenarios.txt", 2, "output of k6", Sound, "rate 499.261462, requests 1501, mean 0.00018719, p95 0.00034876"},
		{"k6-scenarios.txt", 3, "output of k6", Sound, "rate 499.261462, requests 1501, mean 0.00018719, max 0.00145"},
		{"k6-json.json", 0, "JSON of k6", Sound, "rate 16159.924287470067, requests 48485, mean 0.0004563079197896257, p50 0.000244052, max 0.040545311, p90 0.0008048314, bytes read 6303050"},
		{"k6-stats-json.json", 0, "JSON of k6", Sound, "mean 0.0003393781147975254, p50 0.000240087, p99 0.0017812854999999999, p99.9 0.0039179887, max 0.008821216"},
		{"k6-errors-json.json", 0, "JSON of k6", Unsupported, "requests 41834, answers with errors 20917, mean 0.0005202731756705159, connections 8"},
		{"k6-errors-handle-json.json", 0, "JSON of k6", Unsupported, "rate 21275.304358859423, requests 63844, duration 3.000850137, answers with errors 31922, mean 0.0003453107480577669, p95 0.00097843655, connections 8"},
		{"k6-errors-machine-json.json", 0, "JSON of k6", Unsupported, "requests 51806, duration 3.00061804, answers with errors 25903, mean 0.00041902615793537445, p50 0.0003085885, p95 0.00116747975, max 0.010059925, connections 8, bytes read 7226937"},
	} {
		text, err := os.ReadFile("testdata/tools/" + of.file)
		if err != nil {
			t.Fatal(err)
		}
		var rows []map[string]float64
		report, err := Of(of.file, text, Options{Each: func(_ string, row *law.Row) {
			figures := map[string]float64{}
			all(row, func(name string, q law.Quantity, _ metric.Unit) { figures[name] = q.Value })
			rows = append(rows, figures)
		}})
		if err != nil || len(rows) <= of.row || report.Form != of.form || report.Of[of.verdict] != len(rows) {
			t.Errorf("%s: %v, %d rows, %+v", of.file, err, len(rows), report)
			continue
		}
		for figure := range strings.SplitSeq(of.figures, ", ") {
			at := strings.LastIndexByte(figure, ' ')
			want, err := strconv.ParseFloat(figure[at+1:], 64)
			if got, ok := rows[of.row][figure[:at]]; err != nil || !ok || math.Abs(got-want) > 1e-9*want {
				t.Errorf("%s, row %d: %s is read as %g (%v), want %g (%v)", of.file, of.row, figure[:at], got, ok, want, err)
			}
		}
	}
}

// One row in each form of table, with the same figures: 1,000/s of 100 ms on 64 connections.
var forms = map[string]string{
	"CSV":              "name,connections,rps,avg latency (ms)\nslow,64,1000.0,100.0\n",
	"semicolons":       "name;conns;Req/s;mean [ms]\nslow;64;1000.0;100.0\n",
	"tabs":             "name\tconnections\treq/sec\tlatency avg\nslow\t64\t1000.0\t100.0ms\n",
	"tabs and commas":  "connections\trps\tmean latency, ms, lower is better\n64\t1000.0\t100.0\n",
	"Markdown":         "# A table\n\n| Server | Concurrency | Requests/sec | Avg latency |\n|---|--:|---:|---|\n| **slow** | 64 | 1,000.0 | 100.0 ms |\n",
	"Markdown, turned": "| Metric | slow | Remark |\n|---|---|---|\n| Requests/sec | 1,000.0 | few |\n| Concurrency | 64 | |\n| Avg latency | 100.0 ms | bad |\n",
	"CSV, turned":      "metric,slow\nrps,1000.0\nconnections,64\navg latency (ms),100.0\n",
	"TOML":             "[[rows]]\nname = \"slow\"\nconnections = 64\nrps = 1000.0\nmean_latency_ms = 100.5\n",
	"TOML in tables":   "[settings]\nconnections = 64\n[[rows]]\n[rows.figures]\nrps = 1000.0\nmean_latency_ms = 100.5\n",
	"JSON":             `[{"name": "slow", "connections": 64, "rps": 1000.0, "latency": {"avg": "100.0ms"}}]`,
	"JSON by lines":    "{\"connections\": 64, \"rps\": 1000.0, \"avg_latency\": \"100.0ms\"}\n",
	"JSON, long":       `{"metrics": [{"id": 1, "label": "rps", "value": 1000.0}, {"id": 1, "label": "average_latency_ms", "value": 100.5}, {"id": 1, "label": "connections", "value": 64}]}`,
	"JSON, by server":  `{"slow": [{"connections": 64, "rps": 1000.0, "avg_latency": "100.0ms"}]}`,
}

const techEmpower = `{"concurrencyLevels": [16, 64], "duration": 15, "rawData": {"json": {"slow": [{"latencyAvg": "1.0ms", "totalRequests": 15000}, {"latencyAvg": "100.0ms", "totalRequests": 15000}]}}}`

func TestEachFormOfATableIsRead(t *testing.T) {
	if report, err := Of("TechEmpower", []byte(techEmpower), Options{}); err != nil || report.Rows != 2 || report.Of[Unsupported] != 1 ||
		report.Findings[0].Unless != addsLatencies() || report.Findings[0].Row != "slow json" {
		t.Errorf("%v %+v", err, report)
	}
	for form, text := range forms {
		report, err := Of(form, []byte(text), Options{})
		if err != nil || report.Rows != 1 || len(report.Findings) != 1 || report.Findings[0].Law != law.InFlight.ID ||
			report.Findings[0].Unless != "pipelining is not given, and 2 on each connection would do" {
			t.Errorf("%s: %v %+v", form, err, report)
			continue
		}
		report, err = Of(form, []byte(text), Options{Given: []string{"pipelining=1"}})
		if err != nil || report.Of[Impossible] != 1 {
			t.Errorf("%s, without pipelining: %v %+v", form, err, report)
		}
	}
}

func TestHeads(t *testing.T) {
	for head, want := range map[string]string{
		"p99 latency (ms)": "p99 ms", "latency_p99_s": "p99 s", "P99.9": "p99.9 ", "p999_us": "p99.9 us", "percentile_99.999": "p99.999 ",
		"99th percentile [µs]": "p99 µs", "median": "p50 ", "50%": "p50 ", "p97_5": "p97.5 ",
		"Req/s": "rate ", "requests_per_second": "rate ", "throughput_rps": "rate ", "total_requests_per_s": "rate ", "RPS": "rate ",
		"Throughput (MB/s)": "bytes a second mb/s", "transfer_bytes_per_s": "bytes a second ", "Bandwidth": "bytes a second ",
		"totalRequests": "requests ", "requests": "requests ", "total requests": "requests ", "duration_ms": "duration ms", "Time (s)": " s",
		"avg latency": "mean ", "latencyAvg": "mean ", "average_latency": "mean ", "latencyStdev": "stdev ", "standard_deviation": "stdev ",
		"maximum_latency": "max ", "Latency max (us)": "max us", "CPU %": "cores busy %", "cores": "cores ", "concurrency": "connections ",
		"connections_established": "connections ", "pipeline": "pipelining ", "non_2xx": "answers with errors ", "5xx": "answers with errors ",
		"status_2xx": "good answers ", "errors": "failed requests ", "memory (MB)": " mb", "threads": " ", "date": " ", "version": " ",
		"Latency (avg)": "mean ", "Latency (Avg, ms)": "mean ms", "Latency (99%)": "p99 ", "99 %": "p99 ", "lat_avg": "mean ", "Response time (max)": "max ",
		"Latency (stdev) [us]": "stdev us", "Requests/sec (mean)": "rate ", "Avg RPS": "rate ", "Ops/sec": "rate ", "Requests / s": "rate ",
		"MB/s": "bytes a second mb/s", "Mean latency, ms (lower is better)": "mean ms", "Concurrent clients": "connections ", "Virtual users": "connections ",
		"Max RPS": " ", "Reqs/sec (stdev)": " ", "RPS p99": " ", "cpu_p95 (%)": " ", "Latency (p50/p99)": " ", "RPS (10 connections)": " ",
		"http_req_duration p(95)": "p95 ", "Time taken for tests (s)": "duration s", "Time taken (ms)": " ms", "Total time (ms)": " ms", "Error count": "failed requests ", "GB": " ", "Score": " ",
		"Latency": "mean ", "Response time (ms)": "mean ms", "TTFT p95 (ms)": " ", "TPS": " ", "Success %": " %", "Level": " ", "Concurrency (`-c`)": "connections ",
		"jitter_p99_s": " ", "submit p50": " ", "Total p95": "p95 ", "P95 Response": "p95 ",
		"90% Line": "p90 ", "# Samples": "requests ", "Error %": " %", "Failure Count": "failed requests ", "Median Response Time": "p50 ",
		"wall_s": "duration s", "VUs": "connections ", "p50, ms": "p50 ms",
	} {
		c := columnOf(head)
		got := map[use]string{figure: called[c.figure], quantile: law.Numbered(c.share)}[c.is] + " " + c.unit
		if got != want {
			t.Errorf("%q is read as %q, want %q", head, got, want)
		}
	}
}

// What a head may mean beside what it was read as is said, and accuses nobody. A head without a doubt is taken before.
func TestADoubtfulHeadAccusesNobody(t *testing.T) {
	for table, want := range map[string]string{
		"name,connections,pipelining,rps,latency (ms)\nx,64,1,1000.0,100.0\n":   "latency (ms) may be another latency than the mean",
		"name,clients,pipelining,rps,mean (ms)\nx,64,1,1000.0,100.0\n":          "clients may have more than one connection each",
		"clients,connections,pipelining,rps,mean (ms)\n2,64,1,1000.0,50.0\n":    "",
		"connections,clients,pipelining,rps,mean (ms)\n64,2,1,1000.0,50.0\n":    "",
		"latency (ms),mean (ms),pipelining,conns,rps\n500.0,50.0,1,64,1000.0\n": "",
	} {
		report, err := Of("t", []byte(table), Options{})
		if err != nil || report.Of[map[bool]Verdict{true: Sound, false: Unsupported}[want == ""]] != 1 ||
			want != "" && report.Findings[0].Unless != want {
			t.Errorf("%s: %v %+v", table, err, report)
		}
	}
}

// A share stands where a number should, and the rest of the row is judged.
func TestAFigureOfAnotherKindIsLeftOut(t *testing.T) {
	report, err := Of("t", []byte("connections,pipelining,rps,mean (ms),failures\n64,1,1000.0,100.0,0.5%\n"), Options{})
	if err != nil || report.Of[Impossible] != 1 || !slices.Contains(report.Notes, "failures: 1 cell could not be read") {
		t.Errorf("%v %+v", err, report)
	}
}

func TestCells(t *testing.T) {
	for text, want := range map[string]string{
		"1.2ms": "0.0012 0.00115 0.00125", "1.2 ms": "0.0012 0.00115 0.00125", "12": "0.012 0.0115 0.0125", "<1ms": "0.001 0 0.001",
		"~5 ms": "0.005 0.004 0.006", "1m30s": "90 89.5 90.5", "850us": "0.00085 0.000845 0.000855", "2.5e-3s": "0.0025 0.00245 0.00255",
		"1,200 ms": "1.2 1.15 1.25", "1.5m": "90 87 93", "1.5M": "", "x": "", "": "", "1.2.3": "", "5 apples": "", "1e999": "", "5MB": "", ",5": "",
	} {
		q, _, _, ok := quantity(text, metric.Second, "ms", false, false)
		got := ""
		if ok {
			got = fmt.Sprintf("%.4g %.4g %.4g", q.Value, q.Low, q.High)
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// Where a rate is kept, latencies begin when a request was due, and any number may wait.
func TestARateThatIsKeptLeavesNoBound(t *testing.T) {
	const row = "slow,64,1,2000,1000.0,900.0\n"
	for head, want := range map[string]Verdict{"offered rate": Unheld, "something": Impossible} {
		table := "name,connections,pipelining," + head + ",rps,avg latency (ms)\n" + row
		if report, err := Of("t", []byte(table), Options{}); err != nil || report.Of[want] != 1 {
			t.Errorf("%s: %v %+v", head, err, report)
		}
		if report, err := Of("t", []byte(table), Options{Early: true}); err != nil || report.Of[Unheld] != 1 {
			t.Errorf("%s, due: %v %+v", head, err, report)
		}
	}
}

// What hangs on a unit that was guessed is not impossible, and the way out is said.
func TestAGuessedUnitAccusesNobody(t *testing.T) {
	const table = "name,connections,pipelining,rps,avg latency\nslow,64,1,1000.0,1200\n"
	report, err := Of("t", []byte(table), Options{})
	if err != nil || report.Of[Unsupported] != 1 || report.Findings[0].Unless != "the unit of avg latency is a guess" ||
		!slices.ContainsFunc(report.Notes, func(n string) bool { return strings.Contains(n, "--unit 'avg latency=us'") }) {
		t.Errorf("%v %+v", err, report)
	}
	for unit, want := range map[string]Verdict{"latency=us": Sound, "avg latency=ms": Impossible} {
		if report, err = Of("t", []byte(table), Options{Units: []string{unit}}); err != nil || report.Of[want] != 1 {
			t.Errorf("%s: %v %+v", unit, err, report)
		}
	}
}

// One bad row is one finding, and does not end the rest.
func TestABadRowDoesNotEndTheRest(t *testing.T) {
	const table = "name,connections,rps,p50,p99\ngood,8,100,1ms,2ms\nshort,8\nodd,8,many,1ms,2ms\nwrong,8,100,4ms,2ms\ngood,8,100,1ms,2ms\n"
	report, err := Of("t", []byte(table), Options{})
	if err != nil || report.Rows != 5 || report.Of[Sound] != 2 || report.Of[Impossible] != 1 || report.Of[Unread] != 2 ||
		report.Findings[0].Line != 3 || report.Findings[1].Says != `rps: "many" is no figure that can be read` {
		t.Errorf("%v %+v", err, report)
	}
}

func TestWhatIsNoTableIsRefusedInOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"": "it is empty", "a,b\n1,2\n": "no column has a head that is known", "{": "unexpected EOF", "[[rows]]\nrps = \n": "",
		"[]": "it has no rows", "| a | b |\n|---|---|\n| 1 | 2 |\n": "no table has a column", strings.Repeat("[", 100000): "",
	} {
		if _, err := Of("t", []byte(text), Options{}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
	for _, o := range []Options{{Given: []string{"colour=red"}}, {Given: []string{"connections=many"}}, {Units: []string{"p99=parsec"}}} {
		if _, err := Of("t", []byte(forms["CSV"]), o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

func FuzzOf(f *testing.F) {
	for _, text := range forms {
		f.Add([]byte(text))
	}
	f.Add([]byte(techEmpower))
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
		if n != report.Rows || report.Rows == 0 {
			t.Errorf("%d verdicts on %d rows", n, report.Rows)
		}
	})
}

// BenchmarkMillionRows prints how long a table of a million rows takes.
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
