package contest

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/calls"
)

// used is what requests of some servers use.
func used(t *testing.T, servers ...Server) *compare.Outcome {
	t.Helper()
	port, err := FreePorts(len(servers))
	if err != nil {
		t.Fatal(err)
	}
	if servers, err = Find(servers); err != nil {
		t.Fatal(err)
	}
	o := &compare.Outcome{Servers: make([]compare.Measured, len(servers)), Comparisons: []compare.Comparison{{}}}
	b := Bench{Client: client, Dir: t.TempDir(), Port: port, Tell: func(string) {}, Options: Options{
		Looks: make([]Look, len(servers)), Path: "/", Connections: 4, Pipelining: 1, Ready: 10 * time.Second, Servers: servers}}
	began := time.Now()
	if err := b.Use(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Log("it took", time.Since(began), o.Notes, o.Servers)
	return o
}

func TestWhatARequestUsesIsCountedExactly(t *testing.T) {
	addr, pid := runs(t, "twice", "")
	for _, servers := range [][]Server{
		{testServer(t, "old", "fine"), testServer(t, "new", "twice")},
		{of("new", addr, fmt.Sprintf("pid:%d", pid))},
	} {
		out := used(t, servers...)
		for _, note := range out.Notes {
			if strings.Contains(note, "--cap-add=SYS_PTRACE") {
				t.Skip(note)
			}
			t.Error(note)
		}
		for i, s := range servers {
			m, writes := out.Servers[i], "1.00"
			if s.Name == "new" {
				writes = "2.00"
			}
			if got := fmt.Sprintf("%.2f", m.CallsBy["write"]); got != writes || m.Calls < m.CallsBy["read"]+m.CallsBy["write"] {
				t.Errorf("%s: %s writes a request, want %s", s.Name, got, writes)
			}
			if m.MemoryRest < 1e6 || (m.MemoryLoad > 0) != (s.URL != "") || m.Slept == nil || m.Displaced == nil {
				t.Errorf("%s: %+v", s.Name, m)
			}
		}
	}
	if left := proc.Descendants(os.Getpid())[1:]; len(left) > 1 {
		t.Errorf("processes %v were left behind", left)
	}
}

func TestWhereTracingIsRefusedANoteSaysWhy(t *testing.T) {
	addr, pid := runs(t, "fine", "")
	tracer, err := calls.Trace(func() []int { return []int{pid} }, true)
	if err != nil {
		t.Skip(err)
	}
	defer tracer.Stop()
	out := used(t, of("old", addr, fmt.Sprintf("pid:%d", pid)))
	if len(out.Notes) == 0 || !strings.HasPrefix(out.Notes[0], "old: system calls were not counted: process ") ||
		!strings.HasSuffix(out.Notes[0], " traces it already; end that first") {
		t.Errorf("%q", out.Notes)
	}
	// Without its calls, what starts threads is only known of the whole machine, on which other tests run.
	unknown := len(out.Notes) == 2 && strings.HasPrefix(out.Notes[1], "old: its context switches are not known")
	if m := out.Servers[0]; m.CallsBy != nil || m.MemoryLoad == 0 || (m.Slept == nil) != unknown {
		t.Errorf("%+v, %q", m, out.Notes)
	}
}

func TestAServerThatEndsWhileItsUseIsReadIsTold(t *testing.T) {
	out := used(t, testServer(t, "old", "dies"))
	if len(out.Notes) != 1 ||
		out.Notes[0] != "old: what a request uses is not all known: it died while it was asked (exit status 9): out of coffee" {
		t.Errorf("%q", out.Notes)
	}
}

// What they counted is gone with them, and a figure without it would be too low.
func TestSwitchesOfThreadsThatComeAndGoAreNotTold(t *testing.T) {
	out := used(t, testServer(t, "old", "spawns"))
	if m := out.Servers[0]; m.Slept != nil || m.Displaced != nil || m.MemoryRest == 0 ||
		!strings.Contains(strings.Join(out.Notes, " "), "old: its context switches are not known: threads or processes ended") {
		t.Errorf("%q %+v", out.Notes, m)
	}
}
