package contest

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
	"github.com/line-rate/line-rate/lab/load"
	"github.com/line-rate/line-rate/lab/load/stream"
)

// A broadcaster sends an event to all streams for each POST, in its way.
type broadcaster struct {
	how     string
	mutex   sync.Mutex
	id      int
	streams map[chan string]bool
}

func (b *broadcaster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		if b.how == "refuses" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, "%d", b.publish()) // whose length grows
		return
	}
	switch b.how {
	case "missing":
		w.WriteHeader(http.StatusNotFound)
		return
	case "page":
		w.Header().Set("Content-Type", "text/html")
		return
	}
	events := make(chan string, 10_000)
	b.mutex.Lock()
	b.streams[events] = true
	b.mutex.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	_ = http.NewResponseController(w).Flush()
	for {
		select {
		case <-r.Context().Done():
			b.mutex.Lock()
			delete(b.streams, events)
			b.mutex.Unlock()
			return
		case text := <-events:
			_, _ = io.WriteString(w, text)
			_ = http.NewResponseController(w).Flush()
			if strings.HasSuffix(text, "da") {
				return
			}
		}
	}
}

func (b *broadcaster) publish() int {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.id++
	ids := []int{b.id}
	switch {
	case b.how == "mute" || b.how == "drops" && b.id%10 == 0:
		ids = nil
	case b.how == "repeats" && b.id%10 == 0:
		ids = []int{b.id, b.id}
	case b.how == "reorders" && b.id == 10:
		ids = []int{b.id + 1, b.id}
		b.id++
	case b.how == "dies" && b.id > 10:
		fmt.Fprintln(os.Stderr, "out of coffee")
		os.Exit(9)
	case b.how == "killed" && b.id > 10:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	for s := range b.streams {
		for _, id := range ids {
			text := fmt.Sprintf("id: %d\ndata: x\n\n", id)
			switch {
			case b.how == "nameless":
				text = "data: x\n\n"
			case b.how == "cuts" && b.id == 10:
				text = "id: 10\nda"
			}
			s <- text
		}
	}
	return b.id
}

func streaming(t *testing.T, servers ...Server) Bench {
	t.Helper()
	port, err := FreePorts(len(servers) + 1)
	if err != nil {
		t.Fatal(err)
	}
	return Bench{Client: client, Dir: t.TempDir(), Port: port, Tell: func(string) {}, Options: Options{Stream: true, Path: "/events",
		Servers: servers, Connections: 5, Pipelining: 1, Ready: 10 * time.Second, Budget: time.Second, Warmup: 100 * time.Millisecond,
		Rate: 100, Margin: 0.03, Requests: []load.Request{{Method: "POST", Path: "/like"}}}}
}

func TestStreamsThatCannotBeComparedAreRefusedAndEnded(t *testing.T) {
	for how, says := range map[string]string{
		"missing":  "status 404 Not Found (5 times)",
		"page":     "Content-Type \"text/html\" (5 times)",
		"repeats":  "an event came with an id that its stream has had",
		"reorders": "an event came with an id that its stream had skipped",
		"cuts":     "a stream ended amid an event (5 times)",
		"mute":     "no event came; --publish",
		"refuses":  "publishing by POST /like: status 403",
		"killed":   "it died while it was asked (signal: killed); it printed nothing",
		"dies":     "it died while it was asked (exit status 9): out of coffee",
	} {
		b := streaming(t, testServer(t, "bad", "events-"+how))
		_, err := b.LookAtStreams(t.Context(), cores.Split{})
		if err == nil || !strings.HasPrefix(err.Error(), "bad: ") || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q in one line", how, err, says)
		}
		if left := telemetry.Descendants(os.Getpid())[1:]; len(left) > 0 {
			t.Errorf("%s: processes %v were left behind", how, left)
		}
	}
}

func TestWhatIsLostIsToldByIdsAndUnknownWithout(t *testing.T) {
	for how, share := range map[string]float64{"fine": 0, "drops": 0.1, "nameless": math.NaN()} {
		b := streaming(t, testServer(t, "a", "events-"+how))
		var m map[string]float64
		for tries := 0; m["requests"] < 100; tries++ { // fewer come where the machine has no time for it
			tr, err := b.streamed(t.Context(), 0, b.Port, cores.Split{})
			if m = tr.Metrics; err != nil || tries == 5 {
				t.Fatal(how, err, tr)
			}
		}
		n, lost := m["requests"], m[eventsLost]
		if math.IsNaN(share) != math.IsNaN(lost) || math.Abs(lost/(n+lost)-share) > 0.05 {
			t.Errorf("%s: %v lost and %v delivered", how, lost, n)
		}
		// Each publishing that was answered gave an event to each stream at most. 0 of them were answered in time where
		// the machine had no time for it.
		if asked := 5 * m[eventsAsked]; n > asked && asked > 0 || m[cost] <= 0 {
			t.Errorf("%s: %v events of %v asked for, at %v s each", how, n, asked, m[cost])
		}
		if m[firstEvent+p50] <= 0 || m[firstEvent+p99] < m[firstEvent+p50] {
			t.Errorf("%s: the first events came after %v and %v s", how, m[firstEvent+p50], m[firstEvent+p99])
		}
	}
}

// nobody watches a run.
type nobody struct{}

func (nobody) Begin(*experiment.Experiment, time.Duration, time.Duration) {}
func (nobody) Turn(int, int, int)                                         {}
func (nobody) Block(*results.File, []results.Trial)                       {}

func TestABlockHasEachServerAndOneOfThemTwice(t *testing.T) {
	b := streaming(t, testServer(t, "old", "events-fine"), testServer(t, "new", "events-drops"))
	b.Budget, b.Seed = time.Second, 7
	x, err := b.Design(b.Dir, b.window(), make([]Look, 2))
	if err != nil {
		t.Fatal(err)
	}
	assess := func(f *results.File) *compare.Outcome { return Assess(b.Options, x, &host.Profile{Cores: 2}, f, 1) }
	f, err := b.Streams(t.Context(), x, cores.Split{}, time.Millisecond, nobody{}, assess)
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]results.Trial{}
	for _, tr := range f.Trials {
		of[tr.Condition] = tr
	}
	if len(f.Trials) != 3 || len(of) != 3 || f.Provenance.Blocks != 1 || f.Provenance.Ended != results.Budget {
		t.Fatalf("%d trials of %d conditions in %d blocks, ended by %s", len(f.Trials), len(of), f.Provenance.Blocks, f.Provenance.Ended)
	}
	control := f.Conditions[2]
	for _, c := range f.Conditions {
		drops := c.Levels[setting.Server].String() == serverID(1)
		if lost := of[c.ID].Metrics[eventsLost]; (lost > 0) != drops && of[c.ID].Metrics["requests"] > 100 {
			t.Errorf("%s, %v: %v lost", c.ID, c.Levels, lost)
		}
		if c.ID == control.ControlOf && c.Levels[setting.Server] != control.Levels[setting.Server] {
			t.Errorf("the control is of %v, and repeats %v", control.Levels, c.Levels)
		}
	}
	if left := telemetry.Descendants(os.Getpid())[1:]; len(left) > 0 {
		t.Errorf("processes %v were left behind", left)
	}
}

func TestServersThatRunAlreadyAreReadOverAgain(t *testing.T) {
	addr, pid := runs(t, "events-fine", "")
	found, err := Find(t.Context(), []Server{of("a", addr, fmt.Sprintf("pid:%d", pid))})
	if err != nil {
		t.Fatal(err)
	}
	b := streaming(t, found...)
	for range 2 {
		if tr, err := b.streamed(t.Context(), 0, 0, cores.Split{}); err != nil || tr.Metrics["requests"] < 1 || tr.Metrics[cost] <= 0 {
			t.Error(err, tr)
		}
	}
	within, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := b.streamed(within, 0, 0, cores.Split{}); err == nil || within.Err() == nil {
		t.Error("it went on after it was cancelled:", err)
	}
	if left := telemetry.Descendants(os.Getpid()); slices.Contains(left, pid) && len(left) > 2 {
		t.Errorf("processes %v were left behind", left)
	}
}

// came is what is seen of a server that has no fault.
func came(events int64) *seen {
	s := &seen{Report: &stream.Report{Open: 5, Connections: []stream.ConnectionReport{{IDs: events}}}, From: time.Unix(1000, 0),
		To: time.Unix(1001, 0), CPU: time.Second, Published: load.TargetSummary{Answered: 100, Requests: 100}}
	s.Window.Events, s.Whole.Events = events, events
	return s
}

// calm are the figures of a machine on which nothing else ran.
func calm() map[string]float64 {
	return map[string]float64{"server_foreign_load": 0, "client_foreign_load": 0, "server_steal": 0, "client_steal": 0, "throttled_s": 0,
		"swap_pages": 0, "clock_step_s": 0, "client_cores_busy": 0.5, "client_thread_busy_max": 0.5, "server_cores_busy": 0.5}
}

func TestEachFaultOfAWindowRefusesIt(t *testing.T) {
	b := streaming(t, testServer(t, "a", "events-fine"))
	for name, c := range map[string]struct {
		change func(*seen, map[string]float64)
		gate   string // empty: it is valid
	}{
		"none":             {func(*seen, map[string]float64) {}, ""},
		"lost events":      {func(s *seen, _ map[string]float64) { s.Window.Missed = 50 }, ""},
		"repeated":         {func(s *seen, _ map[string]float64) { s.Whole.Repeated = 1 }, gate.WrongAnswer},
		"ended":            {func(s *seen, _ map[string]float64) { s.Whole.Ends = 1 }, gate.WrongAnswer},
		"a silent window":  {func(s *seen, _ map[string]float64) { s.Window.Events = 0 }, gate.Silent},
		"too slow":         {func(s *seen, _ map[string]float64) { s.Published.Requests = 20 }, gate.RateShort},
		"an ended process": {func(s *seen, _ map[string]float64) { s.Unread = 1 }, gate.LostWorker},
		"a full client":    {func(_ *seen, m map[string]float64) { m["client_cores_busy"] = 0.95 }, "client-cpu"},
		"a full server":    {func(_ *seen, m map[string]float64) { m["server_cores_busy"] = 0.95 }, ""},
		"other load":       {func(_ *seen, m map[string]float64) { m["server_foreign_load"] = 0.5 }, gate.OtherLoad},
		"no telemetry":     {func(_ *seen, m map[string]float64) { delete(m, "swap_pages") }, gate.NoTelemetry},
	} {
		s, m := came(500), calm()
		c.change(s, m)
		tr := b.judge(s, m)
		if tr.Valid != (c.gate == "") || !tr.Valid && (len(tr.Reasons) != 1 || tr.Reasons[0].Gate != c.gate || tr.Reasons[0].Detail == "") {
			t.Errorf("%s: %v", name, tr.Reasons)
		}
	}
	if tr := b.judge(came(500), calm()); tr.Metrics[cost] != 0.002 || tr.Metrics[throughput] != 500 || tr.Metrics[eventsLost] != 0 {
		t.Error(tr.Metrics)
	}
}

// The blocks decide as they do with requests, and say so of events.
func TestBlocksOfStreams(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(results.Trial)
		verdict compare.Verdict
		exit    int
		says    string
	}{
		{"dearer", func(results.Trial) {}, compare.Dearer, 0, "new costs 20.0 % more CPU an event than old (19.0 to 21.0 %)"},
		{"lost", func(tr results.Trial) { tr.Metrics[eventsLost] = 125 }, compare.Invalid, 2,
			"no verdict: new lost 20.0 % of its events and old 0.0 %, so an event of one is not the work of an event of the other"},
		{"summed up", func(tr results.Trial) { tr.Metrics[eventsAsked] = 250 }, compare.Invalid, 2,
			"no verdict: of each publishing new delivered 0.5 events to a stream and old 1, so"},
	} {
		o := options("old", "new")
		o.Stream, o.Requests = true, []load.Request{{Method: "POST", Path: "/like"}}
		f := made(o, each(7, 1.2, 1.19, 1.21))
		for _, tr := range f.Trials {
			tr.Metrics["requests"], tr.Metrics[eventsAsked], tr.Metrics[eventsLost] = 500, 125, 0
			if tr.Condition == "b" {
				c.change(tr)
			}
		}
		out := assessed(t, o, f)
		got := out.Comparisons[0]
		if got.Verdict != c.verdict || out.Exit != c.exit || !strings.HasPrefix(got.Says, c.says) ||
			(got.Evidence == nil) != (got.Verdict == compare.Invalid) {
			t.Errorf("%s: %s, exit %d: %s", c.name, got.Verdict, out.Exit, got.Says)
		}
		if all := strings.Join(out.Says, "\n"); !strings.Contains(all, "events/s") || strings.Contains(all, "request") ||
			!strings.Contains(all, "events lost") {
			t.Errorf("%s: %s", c.name, all)
		}
	}
}
