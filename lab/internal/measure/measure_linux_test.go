package measure

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/load"
)

// The test's own program answers the engine's calls, and is the server of its blocks.
func TestMain(m *testing.M) {
	if status, is := Answer(os.Args[1:]); is {
		os.Exit(status)
	}
	if len(os.Args) > 2 && os.Args[1] == "serve" {
		serve(os.Args[2:])
	}
	os.Exit(m.Run())
}

// serve answers on HOST:PORT, and burns so many iterations a request besides.
func serve(args []string) {
	burn := 0
	if len(args) > 1 {
		burn, _ = strconv.Atoi(args[1])
	}
	runtime.GOMAXPROCS(1)
	fmt.Fprintln(os.Stderr, http.ListenAndServe(args[0], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sum := 0
		for i := range burn {
			sum += i * i
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 100+min(0, sum)))
	})))
	os.Exit(1)
}

// plan is a block of servers, each with more words of its command line.
func plan(t *testing.T, first int, words ...[]string) *Plan {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &Plan{Slot: 30 * time.Millisecond, Rounds: 5, Self: []string{self}, Loader: []string{self}, Link: Loopback{}, Clock: NewClock(),
		ServerCPUs: []int{0}, ClientCPUs: []int{runtime.NumCPU() - 1}, Threads: 1}
	p.Target = func(_ int, addr string) load.Target {
		return load.Target{Name: addr, URL: "http://" + addr + "/", Connections: 8, Pipelining: 1}
	}
	for i, more := range words {
		at := fmt.Sprintf("127.0.0.1:%d", first+i)
		p.Subjects = append(p.Subjects, &Command{Label: fmt.Sprintf("s%d", i), Argv: slices.Concat([]string{self, "serve", at}, more),
			On: p.ServerCPUs, At: at, Within: 10 * time.Second, Self: p.Self, Link: p.Link})
		p.Asked = append(p.Asked, gate.Asked{Generator: setting.HTTPLoad, Connections: 8, Pipelining: 1, SlotS: p.Slot.Seconds(),
			WindowS: p.Slot.Seconds() * float64(p.Rounds)})
		p.Warmup = append(p.Warmup, 50*time.Millisecond)
	}
	return p
}

var order = []int{0, 1, 1, 0, 0, 1, 1, 0, 1, 0}

// A server that does more costs more, and the servers end with the block.
func TestABlock(t *testing.T) {
	p := plan(t, 21500, nil, []string{"200000"})
	b, err := p.Block(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	cost := "server_cpu_per_request_s"
	for i, one := range b {
		t.Logf("%v %v", one.Faults, one.Metrics)
		if len(one.Faults) > 0 || len(one.Slots) != 5 || one.Metrics[cost] <= 0 || one.Metrics["latency_p50_s"] <= 0 {
			t.Errorf("server %d: %+v", i, one)
		}
	}
	if b[1].Metrics[cost] < 2*b[0].Metrics[cost] {
		t.Errorf("%v and %v", b[0].Metrics[cost], b[1].Metrics[cost])
	}
	for _, s := range p.Subjects {
		if _, err := http.Get("http://" + s.Addr()); err == nil {
			t.Errorf("%s is still there", s.Name())
		}
	}
}
