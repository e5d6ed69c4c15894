package load

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program/programtest"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

// BenchmarkBesideWrk prints what a request costs the client, how much of its core each
// side uses, and the ratios to wrk if that is installed: the same load in turns, the
// server on one core and the client on another. It asserts nothing: other work on the
// machine changes both.
func BenchmarkBesideWrk(b *testing.B) {
	if runtime.NumCPU() < 2 {
		b.Skip("one core")
	}
	addr, server := pinned(b)
	for _, route := range []string{"/simple", "/read", "/compute"} {
		for _, depth := range []int{1, 10, 50} {
			b.Run(fmt.Sprintf("%s/%d", route[1:], depth), func(b *testing.B) {
				url := "http://" + addr + route
				var own, ratios, rates, there, here []float64
				for range rounds {
					mine, rate, busy := ownCost(b, Target{URL: url, Pipelining: depth, Answers: "fiber"}, server)
					own, there, here = append(own, mine), append(there, busy), append(here, mine*rate)
					if theirs, theirRate, ok := wrkCost(b, url, route, depth); ok {
						ratios, rates = append(ratios, mine/theirs), append(rates, rate/theirRate)
					}
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(own)*1e6, "client-us/request")
				b.ReportMetric(median(there), "server-core")
				b.ReportMetric(median(here), "client-core")
				if len(ratios) > 0 {
					b.ReportMetric(median(ratios), "of-wrk's-CPU")
					b.ReportMetric(median(rates), "of-wrk's-rate")
				}
			})
		}
	}
}

// BenchmarkBesideALoneGET prints what a request with headers, a body and a check costs the
// client over what a lone GET does, in turns with it. The server's answers are the same.
func BenchmarkBesideALoneGET(b *testing.B) {
	url, _, server := bothWays(b)
	body := []byte(`{"name": "` + strings.Repeat("x", 160) + `", "count": 12}`)
	heads := [][2]string{{"Content-Type", "application/json"}, {"Accept", "application/json"},
		{"Authorization", "Bearer 0123456789abcdef0123456789abcdef"}}
	get := Request{Method: "GET", Path: "/simple?q=a%20b", Headers: heads}
	post := Request{Method: "POST", Path: "/simple", Headers: heads, Body: body}
	checked := post
	checked.Check = &Check{Body: []byte(catalog.Simple), Headers: [][2]string{{"Content-Type", ""}}}
	for name, requests := range map[string][]Request{"headers": {get}, "body": {post}, "mixed": {get, post, checked}} {
		for _, depth := range []int{1, 10} { // Go's server lets some connections wait for seconds if each has 50
			b.Run(fmt.Sprintf("%s/%d", name, depth), func(b *testing.B) {
				var own, ratios []float64
				for range rounds {
					target := Target{URL: url, Pipelining: depth}
					lone, _, _ := ownCost(b, target, server)
					target.Requests = requests
					mine, _, _ := ownCost(b, target, server)
					own, ratios = append(own, mine), append(ratios, mine/lone)
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(own)*1e6, "client-us/request")
				b.ReportMetric(median(ratios), "of-a-lone-GET's-CPU")
			})
		}
	}
}

// servesBoth has this program serve for a benchmark, in place of its tests.
const servesBoth = "LOAD_BENCHMARK_SERVES"

func serveBoth() {
	plain := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, catalog.Simple)
	}))
	plain.Config.Protocols = new(http.Protocols)
	plain.Config.Protocols.SetHTTP1(true)
	plain.Config.Protocols.SetUnencryptedHTTP2(true)
	plain.Start()
	secure := httptest.NewUnstartedServer(plain.Config.Handler)
	secure.EnableHTTP2 = true
	secure.StartTLS()
	fmt.Println(plain.URL+"/", secure.URL+"/")
	_, _ = io.Copy(io.Discard, os.Stdin) // until the benchmark has ended
}

// bothWays starts Go's server on the first core, in plain text and with TLS.
func bothWays(b *testing.B) (plain, secure string, pid int) {
	b.Helper()
	if runtime.NumCPU() < 2 {
		b.Skip("one core")
	}
	cmd := exec.Command("taskset", "-c", "0", os.Args[0])
	cmd.Env = append(os.Environ(), servesBoth+"=1")
	hold, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { hold.Close(); _ = cmd.Wait() })
	if _, err := fmt.Fscan(out, &plain, &secure); err != nil {
		b.Fatal(err)
	}
	return plain, secure, cmd.Process.Pid
}

// rounds of a second each; their median is printed.
const rounds = 5

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// pinned starts the server on the first core.
func pinned(b *testing.B) (addr string, pid int) {
	b.Helper()
	addr = "127.0.0.1:18390"
	cmd := exec.Command("taskset", "-c", "0", programtest.Path("fiber_server"), "--prefork=false", "--addr", addr)
	stderr, _ := cmd.StderrPipe()
	if err := cmd.Start(); err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var said bytes.Buffer
	for line := make([]byte, 4096); !strings.Contains(said.String(), "listening"); {
		n, err := stderr.Read(line)
		if said.Write(line[:n]); err != nil {
			b.Fatalf("the server: %s", &said)
		}
	}
	return addr, cmd.Process.Pid // taskset has become the server
}

// ownCost returns CPU seconds per request, requests per second, and the server's share of
// its core.
func ownCost(b *testing.B, target Target, server int) (cost, rate, busy float64) {
	b.Helper()
	target.Name, target.Connections, target.Processes = "server", 50, []int{server}
	plan := Plan{Threads: 1, TimeoutS: 2, Targets: []Target{target}, Slots: []Slot{{Seconds: 0.1}, {Seconds: 1, Counts: true}}}
	var input bytes.Buffer
	if err := plan.Write(&input); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command("taskset", "-c", "1", programtest.Path("linerate"), "load", "--plan", "-")
	input.WriteString("end\n")
	cmd.Stdin = &input
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	r, err := ReadReport(bytes.NewReader(out))
	if err != nil {
		b.Fatal(err)
	}
	s := r.Slots[1]
	if s.Failed != "" {
		b.Fatal(s.Failed)
	}
	return s.ClientCPUS / float64(s.Requests), float64(s.Requests) / s.Seconds, s.ServerCPUS[0] / s.Seconds
}

var wrkCount = regexp.MustCompile(`(?P<n>\d+) requests in (?P<took>[\d.]+)s`)

// wrkCost returns the same for wrk, which needs a script for pipelining.
func wrkCost(b *testing.B, url, route string, depth int) (cost, rate float64, ok bool) {
	b.Helper()
	script := filepath.Join(b.TempDir(), "pipeline.lua")
	text := fmt.Sprintf("init = function(args) local r = {} for i = 1, %d do r[i] = wrk.format('GET', '%s') end all = "+
		"table.concat(r) end\nrequest = function() return all end\n", depth, route)
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	args := []string{"wrk", "-t1", "-c50", "-d1s"}
	if depth > 1 {
		args = append(args, "-s", script)
	}
	return clientCost(wrkCount, append(args, url)...)
}

// h2load tells its time before its requests.
var h2loadCount = regexp.MustCompile(`finished in (?P<took>[\d.]+)s,[^\n]*\nrequests: .*?(?P<n>\d+) succeeded`)

// clientCost runs another client on the second core, whose output has its requests and its seconds.
func clientCost(count *regexp.Regexp, args ...string) (cost, rate float64, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // h2load 1.52 may never end
	defer cancel()
	cmd := exec.CommandContext(ctx, "taskset", append([]string{"-c", "1"}, args...)...)
	out, err := cmd.Output()
	m := count.FindSubmatch(out)
	if err != nil || m == nil {
		return 0, 0, false
	}
	n, _ := strconv.ParseFloat(string(m[count.SubexpIndex("n")]), 64)
	took, _ := strconv.ParseFloat(string(m[count.SubexpIndex("took")]), 64)
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds() / n, n / took, true
}
