package load

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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
)

// BenchmarkBesideWrk prints what a request costs the client, and the ratios to wrk if that is installed: the
// same load in turns, the server on one core and the client on another. It asserts nothing: other work on
// the machine changes both.
func BenchmarkBesideWrk(b *testing.B) {
	if runtime.NumCPU() < 2 {
		b.Skip("one core")
	}
	addr := pinned(b)
	for _, route := range []string{"/simple", "/read", "/compute"} {
		for _, depth := range []int{1, 10, 50} {
			b.Run(fmt.Sprintf("%s/%d", route[1:], depth), func(b *testing.B) {
				url := "http://" + addr + route
				var own, ratios, rates []float64
				for range rounds {
					mine, rate := ownCost(b, Target{URL: url, Pipelining: depth, Answers: "fiber"})
					own = append(own, mine)
					if theirs, theirRate, ok := wrkCost(b, url, route, depth); ok {
						ratios, rates = append(ratios, mine/theirs), append(rates, rate/theirRate)
					}
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(own)*1e6, "client-us/request")
				if len(ratios) > 0 {
					b.ReportMetric(median(ratios), "of-wrk's-CPU")
					b.ReportMetric(median(rates), "of-wrk's-rate")
				}
			})
		}
	}
}

// rounds of a second each; their median is printed.
const rounds = 5

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// pinned starts the server on the first core.
func pinned(b *testing.B) (addr string) {
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
	return addr
}

// ownCost returns CPU seconds per request, and requests per second.
func ownCost(b *testing.B, target Target) (cost, rate float64) {
	b.Helper()
	target.Name, target.Connections = "server", 50
	plan, _ := json.Marshal(Plan{Threads: 1, TimeoutS: 2, Targets: []Target{target}, Slots: []Slot{{Seconds: 0.1}, {Seconds: 1, Counts: true}}})
	cmd := exec.Command("taskset", "-c", "1", programtest.Path("linerate"), "client")
	cmd.Stdin = bytes.NewReader(plan)
	out, err := cmd.Output()
	if err != nil {
		b.Fatal(err)
	}
	var s SlotReport
	for lines := json.NewDecoder(bytes.NewReader(out)); s.Slot == 0; {
		if err := lines.Decode(&s); err != nil || s.Failed != "" {
			b.Fatal(err, s.Failed)
		}
	}
	return s.ClientCPUS / float64(s.Requests), float64(s.Requests) / s.Seconds
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

// clientCost runs another client on the second core, whose output has its requests and its seconds.
func clientCost(count *regexp.Regexp, args ...string) (cost, rate float64, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
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
