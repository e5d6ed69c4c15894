package load

import (
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

	"github.com/line-rate/line-rate/lab/internal/program/programtest"
)

// BenchmarkBesideWrk prints what a request costs the client, and the ratio to wrk if that is installed. The
// load is the same, in turns of a second, with the server on one core and the client on another; it prints
// the median of five. It asserts nothing: other work on the machine changes both.
func BenchmarkBesideWrk(b *testing.B) {
	if runtime.NumCPU() < 2 {
		b.Skip("one core")
	}
	_, addr := programtest.Start(b, "taskset", "-c", "0", programtest.Path("fiber_server"), "--prefork=false", "--addr", "127.0.0.1:0")
	for _, route := range []string{"/simple", "/read", "/compute"} {
		for _, depth := range []int{1, 10, 50} {
			b.Run(fmt.Sprintf("%s/%d", route[1:], depth), func(b *testing.B) {
				url := "http://" + addr + route
				var own, ratios []float64
				for range 5 {
					mine := ownCost(b, Target{URL: url, Pipelining: depth, Answers: "fiber"})
					own = append(own, mine)
					if theirs, ok := wrkCost(b, url, route, depth); ok {
						ratios = append(ratios, mine/theirs)
					}
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(own)*1e6, "client-us/request")
				if len(ratios) > 0 {
					b.ReportMetric(median(ratios), "of-wrk's-CPU")
				}
			})
		}
	}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// ownCost is CPU seconds per request.
func ownCost(b *testing.B, target Target) float64 {
	b.Helper()
	target.Name, target.Connections = "server", 50
	plan, _ := json.Marshal(Plan{Threads: 1, TimeoutS: 2, Targets: []Target{target}, Slots: []Slot{{Seconds: 1, Counts: true}}})
	cmd := exec.Command("taskset", "-c", "1", programtest.Path("linerate"), "client")
	cmd.Stdin = strings.NewReader(string(plan))
	out, err := cmd.Output()
	var s SlotReport
	if err == nil {
		line, _, _ := strings.Cut(string(out), "\n")
		err = json.Unmarshal([]byte(line), &s)
	}
	if err != nil || s.Failed != "" {
		b.Fatal(err, s.Failed)
	}
	return s.ClientCPUS / float64(s.Requests)
}

var wrkCount = regexp.MustCompile(`(\d+) requests in`)

// wrkCost is the same of wrk, which needs a script for pipelining.
func wrkCost(b *testing.B, url, route string, depth int) (cost float64, ok bool) {
	b.Helper()
	script := filepath.Join(b.TempDir(), "pipeline.lua")
	text := fmt.Sprintf("init = function(args) all = string.rep(wrk.format('GET', '%s'), %d) end\n"+
		"request = function() return all end\n", route, depth)
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command("taskset", "-c", "1", "wrk", "-t1", "-c50", "-d1s", "-s", script, url)
	out, err := cmd.Output()
	m := wrkCount.FindSubmatch(out)
	if err != nil || m == nil {
		return 0, false
	}
	n, _ := strconv.ParseFloat(string(m[1]), 64)
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds() / n, true
}
