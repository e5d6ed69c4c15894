package judge

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/line-rate/line-rate/lab/internal/law"
)

// A tool is a load generator whose output is read as it prints it.
type tool struct {
	name string
	mark string // what its output has, and no other's
	// begins is a run's first line. lines have figures in groups that are named as in groups; a group "q" is a
	// quantile's percent and "at" its value, and p97_5 is a quantile.
	begins   string
	headless bool // the first run may have no such line
	lines    []*regexp.Regexp
	in       map[string]string // units that are not printed, by group
	binary   bool              // a kilo of bytes is 1,024
	row      law.Row           // what is known of each run beside what is printed
}

// alone is a row of a tool that never has two requests in flight on a connection.
func alone(row law.Row) law.Row {
	row.Set(law.Depth, law.Exactly(1))
	return row
}

// groups name figures in patterns.
var groups = map[string]law.Figure{"rate": law.Rate, "requests": law.Requests, "duration": law.Duration, "mean": law.Average,
	"min": law.Least, "max": law.Greatest, "stdev": law.Deviation, "connections": law.Connections, "depth": law.Depth,
	"bytes": law.Bytes, "byterate": law.ByteRate, "good": law.Good, "bad": law.Bad, "fails": law.Fails}

// patterns makes regular expressions: # stands for a number with its unit, and two spaces for any.
func patterns(texts ...string) (all []*regexp.Regexp) {
	for _, p := range texts {
		p = strings.ReplaceAll(p, "#", `[<~]?\d[\d.,]*(?:e[+-]?\d+)?(?: ?[a-zA-Zµμ/]+)?(?:\d[\dhmsµ.]*)?`)
		all = append(all, regexp.MustCompile(strings.ReplaceAll(p, "  ", `\s+`)))
	}
	return all
}

// box is what lies between two cells of autocannon's tables.
const box = `\s*[│|]\s*`

var inSeconds = map[string]string{"mean": "s", "stdev": "s", "min": "s", "max": "s", "at": "s"}

const addsLatencies = "wrk adds latencies of requests that it never sent"

// tools are those whose text is read. Their patterns take milliseconds to compile, which only who judges pays.
var tools = sync.OnceValue(func() []tool {
	// What wrk and wrk2 print.
	wrk := patterns(`^  \d+ threads and (?P<connections>\d+) connections`, `^  Latency  (?P<mean>#)  (?P<stdev>#)  (?P<max>#)  [\d.]+%$`,
		`^\s*(?P<q>[\d.]+)%  (?P<at>[\d.]+[a-zµ]+)$`, `^  (?P<requests>\d+) requests in (?P<duration>#), (?P<bytes>#) read`,
		`^  Socket errors: connect (?P<fails>\d+), read (?P<fails2>\d+), write (?P<fails3>\d+), timeout (?P<fails4>\d+)`,
		`^  Non-2xx or 3xx responses: (?P<bad>\d+)`, `^Requests/sec:  (?P<rate>#)`, `^Transfer/sec:  (?P<byterate>#)`)
	return []tool{
		{name: "wrk2", mark: `Thread calibration: |HdrHistogram - |Req/Sec\s+-?nan`, begins: `^Running .* test @`, binary: true, row: law.Row{Early: true}, lines: wrk},
		{name: "wrk", mark: `(?m)^\s+\d+ threads and \d+ connections`, begins: `^Running .* test @`, binary: true,
			row: law.Row{Added: addsLatencies}, lines: wrk},
		{name: "h2load", mark: `(?m)^finished in .* req/s`, begins: `^starting benchmark`, binary: true, row: law.Row{Sampled: true},
			lines: patterns(`^spawning thread #\d+: (?P<clients>\d+) total client`, `^finished in (?P<duration>#), (?P<rate>[\d.]+) req/s, (?P<byterate>#)`,
				`^requests: (?P<requests>\d+) total, \d+ started, \d+ done, \d+ succeeded, \d+ failed, (?P<fails>\d+) errored`,
				`^status codes: (?P<good>\d+) 2xx, (?P<good2>\d+) 3xx, (?P<bad>\d+) 4xx, (?P<bad2>\d+) 5xx`,
				`^traffic: (?P<bytes>[\d.]+[KMGT]?B)`, `^time for request:  (?P<min>#)  (?P<max>#)  (?P<mean>#)  (?P<stdev>#)`)},
		{name: "bombardier", mark: `(?m)^  Reqs/sec `, begins: `^Bombarding |^Statistics `, row: alone(law.Row{Sampled: true}),
			lines: patterns(`using (?P<connections>\d+) connection`, `^  Reqs/sec  (?P<rate>#)`, `^  Latency  (?P<mean>#)  #  (?P<max>#)$`, // its stdev is none
				`^  (?P<q>[\d.]+)%  (?P<at>#)$`, `2xx - (?P<good>\d+), 3xx - (?P<good2>\d+), 4xx - (?P<bad>\d+), 5xx - (?P<bad2>\d+)`,
				`^  others - (?P<fails>\d+)`)},
		{name: "autocannon", mark: `(?m)^[│|] Stat`, begins: `^Running .* test @ `, row: law.Row{Sampled: true},
			lines: patterns(`^(?P<connections>\d+) connections$`, `^(?P<connections>\d+) connections with (?P<depth>\d+) pipelining factor`,
				`Latency`+box+`(?P<p2_5>#)`+box+`(?P<p50>#)`+box+`(?P<p97_5>#)`+box+`(?P<p99>#)`+box+`(?P<mean>#)`+box+`(?P<stdev>#)`+box+`(?P<max>#)`,
				`Req/Sec`+strings.Repeat(box+`#`, 4)+box+`(?P<rate>#)`, `Bytes/Sec`+strings.Repeat(box+`#`, 4)+box+`(?P<byterate>#)`,
				`[│|] 2\d\d`+box+`(?P<good>\d+)`, `[│|] [45]\d\d`+box+`(?P<bad>\d+)`,
				`^(?P<requests>[\d.]+k?) requests in (?P<duration>#), (?P<bytes>#) read`, `^(?P<fails>\d+) errors \(\d+ timeouts\)`)},
		{name: "vegeta", mark: `(?m)^Requests\s+\[total, rate`, begins: `^Requests\s+\[total, rate`,
			lines: patterns(`\[total, rate(?:, throughput)?\]  (?P<requests>\d+), (?P<rate>[\d.]+)`, `\[total, attack, wait\]  #, (?P<duration>#),`,
				`\[min, mean, 50, 90, 95, 99, max\]  (?P<min>#), (?P<mean>#), (?P<p50>#), (?P<p90>#), (?P<p95>#), (?P<p99>#), (?P<max>#)$`)},
		{name: "fortio", mark: `(?m)^Aggregated Function Time`, begins: `^Fortio .* running at`, in: inSeconds, row: alone(law.Row{Sampled: true, Classes: true}),
			lines: patterns(`^Sockets used: \d+ \(for perfect keepalive, would be (?P<connections>\d+)\)`, `^All done (?P<requests>\d+) calls .* (?P<rate>[\d.]+) qps`,
				`procs, for (?P<duration>#):`, `^Aggregated Function Time : count \d+ avg (?P<mean>#) \+/- (?P<stdev>#) min (?P<min>#) max (?P<max>#)`,
				`^# target (?P<q>[\d.]+)% (?P<at>#)`, `^Code  2\d\d : (?P<good>\d+)`, `^Code  [345]\d\d : (?P<bad>\d+)`, `^Code  -1 : (?P<fails>\d+)`)},
		// Each part of a summary is a row. A VU has many requests in flight in http.batch.
		{name: "k6", mark: `http_req_duration\.+: `, begins: `█ (?:TOTAL RESULTS|SCENARIO:)|↳ GROUP:`, headless: true, row: law.Row{Sampled: true},
			lines: patterns(`http_req_duration\.+:(?:  (?:avg=(?P<mean>\S+)|min=(?P<min>\S+)|max=(?P<max>\S+)|(?:med|p\(50\))=(?P<p50>\S+)|p\(75\)=(?P<p75>\S+)|`+
				`p\(90\)=(?P<p90>\S+)|p\(95\)=(?P<p95>\S+)|p\(99\)=(?P<p99>\S+)|p\(99\.9\)=(?P<p99_9>\S+)|[^=\s]+=\S+))+`,
				`http_req_failed\.+:  [\d.]+%  (?:✓ )?(?P<bad>\d+)`, `http_reqs\.+:  (?P<requests>\d+)  (?P<rate>#)`,
				`vus_max\.+:  (?P<connections>\d+)`, `data_received\.+:  (?P<bytes>#)  (?P<byterate>#)`)},
		{name: "hey or oha", mark: `(?m)^\s*Requests/sec:\s+[\d.]+\s*$`, begins: `^Summary:`, row: alone(law.Row{}),
			lines: patterns(`^  Total:  (?P<duration>#)`, `^  Slowest:  (?P<max>#)`, `^  Fastest:  (?P<min>#)`, `^  Average:  (?P<mean>#)`,
				`^  Requests/sec:  (?P<rate>#)`, `^  Total data:  (?P<bytes>#)`, `^  Size/sec:  (?P<byterate>#)`,
				`^  (?P<q>[\d.]+)%+ in (?P<at>#)`, `^  \[[23]\d\d\]  (?P<good>\d+) responses`, `^  \[[45]\d\d\]  (?P<bad>\d+) responses`)},
	}
})

// A printer is a load generator whose JSON is read: where each figure lies, and its unit if it is not the base one.
type printer struct {
	tool
	has       string // a path that no other's JSON has
	paths     map[string]string
	quantiles string // path to them, by their names
	codes     string // path to how often each status came
}

var inJSON = []printer{
	{tool{name: "autocannon", row: law.Row{Sampled: true}}, "latency/p97_5", map[string]string{"connections": "connections", "pipelining": "depth",
		"duration": "duration", "errors": "fails", "2xx": "good", "non2xx": "bad", "requests/total": "requests", "requests/average": "rate",
		"throughput/total": "bytes", "throughput/average": "byterate", "latency/average": "mean ms", "latency/stddev": "stdev ms",
		"latency/max": "max ms"}, "latency ms", ""},
	{tool{name: "bombardier", row: alone(law.Row{Sampled: true})}, "spec/numberOfConnections", map[string]string{"spec/numberOfConnections": "connections",
		"result/timeTakenSeconds": "duration", "result/req2xx": "good", "result/req4xx": "bad", "result/req5xx": "bad", "result/others": "fails",
		"result/latency/mean": "mean us", "result/latency/max": "max us", "result/rps/mean": "rate"},
		"result/latency/percentiles us", ""},
	{tool{name: "vegeta"}, "latencies/50th", map[string]string{"requests": "requests", "rate": "rate", "duration": "duration ns",
		"latencies/mean": "mean ns", "latencies/max": "max ns", "latencies/min": "min ns"}, "latencies ns", "status_codes"},
	{tool{name: "fortio", row: alone(law.Row{Classes: true})}, "DurationHistogram/Count", map[string]string{"ActualQPS": "rate", "ActualDuration": "duration ns",
		"NumThreads": "connections", "DurationHistogram/Count": "requests", "DurationHistogram/Min": "min", "DurationHistogram/Max": "max",
		"DurationHistogram/Avg": "mean", "DurationHistogram/StdDev": "stdev"}, "DurationHistogram/Percentiles s", "RetCodes"},
	{tool{name: "k6", row: law.Row{Sampled: true}}, "metrics/http_req_duration/avg", map[string]string{"metrics/http_reqs/count": "requests",
		"metrics/http_reqs/rate": "rate", "metrics/vus_max/max": "connections", "metrics/http_req_duration/avg": "mean ms",
		"metrics/http_req_duration/min": "min ms", "metrics/http_req_duration/max": "max ms", "metrics/http_req_duration/med": "p50 ms",
		"metrics/http_req_duration/p(50)": "p50 ms", "metrics/http_req_duration/p(75)": "p75 ms", "metrics/http_req_duration/p(90)": "p90 ms",
		"metrics/http_req_duration/p(95)": "p95 ms", "metrics/http_req_duration/p(99)": "p99 ms", "metrics/http_req_duration/p(99.9)": "p99.9 ms",
		"metrics/http_req_failed/passes": "bad", "metrics/data_received/count": "bytes", "metrics/data_received/rate": "byterate",
		"state/testRunDurationMs": "duration ms"}, "", ""},
	{tool{name: "k6", row: law.Row{Sampled: true}}, "results/metrics/http_req_duration/avg", map[string]string{"config/duration": "duration",
		"results/metrics/http_reqs/count": "requests", "results/metrics/vus_max/max": "connections", "results/metrics/http_req_duration/avg": "mean ms",
		"results/metrics/http_req_duration/min": "min ms", "results/metrics/http_req_duration/max": "max ms", "results/metrics/http_req_duration/med": "p50 ms",
		"results/metrics/http_req_failed/matches": "bad", "results/metrics/data_received/count": "bytes"}, "results/metrics/http_req_duration/values ms", ""},
	{tool{name: "oha", row: alone(law.Row{})}, "summary/requestsPerSec", map[string]string{"summary/total": "duration", "summary/slowest": "max",
		"summary/fastest": "min", "summary/average": "mean", "summary/requestsPerSec": "rate", "summary/totalData": "bytes",
		"summary/sizePerSec": "byterate"}, "latencyPercentiles s", "statusCodeDistribution"},
}

var percent = later(`^p?(\d+(?:[._]\d+)?)(?:th)?$`)

// read notes what a tool's JSON has.
func (p *printer) read(j *judge, top map[string]any) {
	for _, path := range slices.Sorted(maps.Keys(p.paths)) {
		name, in, _ := strings.Cut(p.paths[path], " ")
		j.group(name, in, lookup(top, path))
	}
	path, in, _ := strings.Cut(p.quantiles, " ")
	switch all := at(top, path).(type) {
	case map[string]any:
		for name, v := range all {
			if m := percent().FindStringSubmatch(name); m != nil {
				j.group("p"+m[1], in, fmt.Sprint(v))
			}
		}
	case []any: // of fortio
		for _, q := range all {
			j.group("p"+lookup(q, "Percentile"), in, lookup(q, "Value"))
		}
	}
	codes, _ := at(top, p.codes).(map[string]any)
	for code, n := range codes {
		if name := map[byte]string{'2': "good", '3': "good", '4': "bad", '5': "bad"}[(code + " ")[0]]; name != "" {
			j.group(name, "", fmt.Sprint(n))
		}
	}
}
