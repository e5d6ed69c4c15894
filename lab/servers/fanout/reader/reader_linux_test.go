package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/internal/program/programtest"
	"github.com/line-rate/line-rate/lab/load"
	"github.com/line-rate/line-rate/lab/servers/fanout/hub"
)

func TestMain(m *testing.M) {
	programtest.Main(m, map[string]string{"fanout_server": "..", "fanout_floor": "../epoll"})
}

// start starts a server by its words.
func start(t *testing.T, words string) (cmd *exec.Cmd, addr string) {
	t.Helper()
	name, flags, _ := strings.Cut(words, " ")
	call := append([]string{programtest.Path(name), "--addr", "127.0.0.1:0"}, strings.Fields(flags)...)
	return programtest.Start(t, call...)
}

// The account closes in every design. With --apart the reader learns from the writers' process where the readers' is.
func TestTheAccountCloses(t *testing.T) {
	for _, words := range []string{"fanout_floor", "fanout_server",
		"fanout_server --shards 8", "fanout_server --shards 8 --shard-by counter", "fanout_server --apart tcp --drainers 4",
		"fanout_server --apart unix --window 50ms"} {
		_, addr := start(t, words)
		var out output
		var stdout, stderr bytes.Buffer
		flags := "--connections 40 --warmup 0.3 --duration 0.5 --rate 100 --server " + addr
		status := run(strings.Fields(flags), &stdout, &stderr)
		if err := json.Unmarshal(stdout.Bytes(), &out); err != nil || status != program.OK {
			t.Fatalf("%s: status %d, %v, %s, %s", words, status, err, &stdout, &stderr)
		}
		a := out.Account
		lost := a.Subscriber + a.Broadcast + a.Shard + a.Left + a.Socket
		if !a.Closed || a.Due == 0 || a.Received != a.Written || a.Due != a.Written+lost {
			t.Errorf("%s: %+v", words, a)
		}
		used := 1
		if strings.Contains(words, "counter") {
			used = 4 // a post has four readers
		}
		if out.Open != 40 || out.ShardsUsed != used || out.Events == 0 || out.Repeated+out.Refused != 0 ||
			len(out.Faults) > 0 {
			t.Errorf("%s: %+v", words, out)
		}
		p, apart := a.Push, strings.Contains(words, "apart")
		if (p != nil) != apart || apart && (p.Pushed == 0 || p.Pushed != a.Published || p.Failed != 0 ||
			(p.Merged > 0) != strings.Contains(words, "window")) {
			t.Errorf("%s: %+v, of %+v", words, p, a)
		}
	}
}

// When a signal kills one of two processes, the other ends too.
func TestNeitherOfTwoProcessesIsLeft(t *testing.T) {
	for _, whose := range []string{"writers", "readers"} {
		cmd, addr := start(t, "fanout_server --apart tcp")
		l, err := ledgerOf(addr)
		if err != nil || l.ReadersAt == "" {
			t.Fatal(l, err)
		}
		if _, err := ledgerOf(l.ReadersAt); err != nil {
			t.Fatal(err)
		}
		pid := cmd.Process.Pid
		if whose == "readers" {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
			if _, failed := fmt.Sscan(string(text), &pid); err != nil || failed != nil {
				t.Fatalf("%q %v", text, err)
			}
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for _, at := range []string{addr, l.ReadersAt} {
			for n := 0; ; n++ {
				if _, err := ledgerOf(at); errors.Is(err, syscall.ECONNREFUSED) {
					break
				}
				if n == 500 {
					t.Fatalf("the %s' process was killed, and %s is still there", whose, at)
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
}

// One line names what cannot be measured, and a server that dies amid the trial.
func TestWhatCannotBeMeasured(t *testing.T) {
	dead, gone := start(t, "fanout_server")
	_ = dead.Process.Kill()
	_ = dead.Wait()
	_, few := start(t, "fanout_server --topics 2")
	dying, dies := start(t, "fanout_server")
	for _, c := range []struct {
		flags  string
		status int
		want   string
	}{
		{"", program.Refused, "--server is missing"},
		{"--server example.com:1", program.Refused, "loopback host"},
		{"--server " + gone, program.NotReached, "no server is there"},
		{"--server " + few + " --connections 4 --warmup 0.2 --duration 0.2", program.Failure, "status 404"},
		{"--server " + dies + " --connections 8 --warmup 0.3 --duration 3", program.Failure, ""},
	} {
		if strings.Contains(c.flags, dies) {
			time.AfterFunc(800*time.Millisecond, func() { _ = dying.Process.Kill() })
		}
		var stdout, stderr bytes.Buffer
		status := run(strings.Fields(c.flags), &stdout, &stderr)
		said := stderr.String()
		if c.want == "" && status == program.NotReached {
			status = c.status // the reader asked for its ledger
		}
		if status != c.status || !strings.Contains(said, c.want) || strings.Count(said, "\n") != 1 || stdout.Len() > 0 {
			t.Errorf("%s: status %d, %q, %q", c.flags, status, said, &stdout)
		}
	}
}

// The reader takes events wherever packets cut them, and compares their ids. A stream that is none
// is refused.
func TestAStreamOfEvents(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.URL.Query().Get("type"))
		flush := http.NewResponseController(w).Flush
		_ = flush()
		var text []byte
		for _, id := range []uint64{1, 2, 5, 4, 5, 6} {
			text = hub.AppendText(text, id, 0, 1)
		}
		for part := range slices.Chunk(text, 50) {
			time.Sleep(20 * time.Millisecond)
			_, _ = w.Write(part)
			_ = flush()
		}
		<-r.Context().Done()
	}))
	defer s.Close()
	read := func(kind string) (*events, load.SlotReport, load.TargetSummary) {
		seen := &events{delivery: load.NewHistogram()}
		p := settings{server: strings.TrimPrefix(s.URL, "http://"), connections: 3, topics: 1}.streams()
		p.Targets[0].Requests[0].Path = "/?type=" + kind
		p.Slots = []load.Slot{{Seconds: 1, Counts: true}}
		r, err := load.Run(t.Context(), p, load.Options{Stream: seen.open})
		if err != nil {
			t.Fatal(err)
		}
		return seen, r.Slots[0], r.Summary.Targets[0]
	}
	seen, slot, sum := read("text/event-stream")
	if d := seen.delivery.Latency(); seen.n != 18 || seen.repeated != 6 || slot.Requests > 18 || sum.Answered != 18 ||
		sum.Open != 3 || sum.Fault != "" || d == nil || d.N != 18 || d.Max > 1 {
		t.Errorf("%+v, %+v, %+v", seen, sum, d)
	}
	if _, _, sum := read("text/plain"); !strings.Contains(sum.Fault, `header Content-Type is "text/plain"`) {
		t.Errorf("no stream of events was read as one: %+v", sum)
	}
}
