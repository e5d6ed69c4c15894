package fleet

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/load"
)

// The test's program is what hosts run.
func TestMain(m *testing.M) {
	if status, is := Called(os.Args[1:]); is {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// ssh replaces ssh where there is no sshd: a host is a directory, the home of the user who logs in.
// The rest is the same: a login shell, its output, a program's end, and an input that ends.
const sshHere = `#!/bin/sh
while [ "$1" != -- ]; do shift; done
export HOME=%[1]s/$2 SSH_CONNECTION="127.0.0.1 40000 127.0.0.1 22"
unset XDG_CACHE_HOME
[ -d "$HOME" ] || { echo "ssh: Could not resolve hostname $2" >&2; exit 255; }
[ ! -e "$HOME/.profile" ] || . "$HOME/.profile"
exec 3<&0
sh -c "$3" <&3 3<&- &
echo $! >>"$HOME/pids"
wait $!`

// hosts makes hosts of these names, and puts such an ssh into PATH.
func hosts(t *testing.T, names ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range names {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "ssh"), fmt.Appendf(nil, sshHere, dir), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return dir
}

// A bench is a fleet with a relay and a server that counts.
type bench struct {
	*Fleet
	talk     *proc.Talk
	answered atomic.Int64
}

func newBench(t *testing.T, plan load.Plan, names ...string) *bench {
	t.Helper()
	f, err := Open(t.Context(), names)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{Fleet: f}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		b.answered.Add(1)
		fmt.Fprint(w, "hello")
	}))
	t.Cleanup(server.Close)
	for i := range plan.Targets {
		plan.Targets[i].URL, plan.Targets[i].Pipelining = server.URL, 1
	}
	if b.talk, err = proc.StartTalk(proc.Spec{Argv: f.Client(nil)}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.talk.End)
	if err := b.talk.Tell(plan); err != nil {
		t.Fatal(err)
	}
	return b
}

// slot asks for one slot; where the relay has ended, the error is its last line.
func (b *bench) slot(t *testing.T, s load.Slot) (r load.SlotReport, err error) {
	t.Helper()
	if err = b.talk.Tell(s); err == nil {
		err = b.talk.Hear(t.Context(), 20*time.Second, &r)
	}
	if err != nil {
		<-b.talk.Done()
		err = fmt.Errorf("%s", b.talk.LastLine())
	}
	return r, err
}

func TestTheSumOfAllHostsIsWhatTheServerCounted(t *testing.T) {
	hosts(t, "c1", "c2")
	b := newBench(t, load.Plan{Threads: 1, Targets: []load.Target{{Connections: 5}, {Connections: 4, Clients: 1}}}, "c1", "c2")
	asked := int64(0)
	for i := range 3 {
		r, err := b.slot(t, load.Slot{Target: i % 2, Seconds: 0.1, Counts: true})
		if err != nil || r.Failed != "" {
			t.Fatalf("slot %d: %v, %q", i, err, r.Failed)
		}
		if asked += r.Turn.Requests; b.answered.Load() != asked {
			t.Errorf("slot %d: the server answered %d requests, and %d were counted", i, b.answered.Load(), asked)
		}
		if r.Slot != i || len(r.Elsewhere) < 2 || r.Requests == 0 || r.Seconds < 0.09 {
			t.Errorf("slot %d: %+v", i, r)
		}
	}
	b.talk.Close()
	var sum load.Summary
	if err := b.talk.Hear(t.Context(), 5*time.Second, &sum); err != nil || len(sum.Targets) != 2 ||
		sum.Targets[0].Answered+sum.Targets[1].Answered != asked || sum.Targets[0].Latency.N == 0 || sum.Targets[0].Errors > 0 {
		t.Errorf("%v: %+v", err, sum)
	}
}

// pid is the newest process that ssh started on a host.
func pid(t *testing.T, dir, host string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, host, "pids"))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(text))
	n, _ := strconv.Atoi(all[len(all)-1])
	return n
}

func TestAFaultOfAHostIsOneLineThatNamesIt(t *testing.T) {
	for name, c := range map[string]struct {
		during func(pid int)
		says   string
	}{
		"killed": {func(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) }, "client 2"},
		"stopped": {func(pid int) {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
			time.Sleep(3 * time.Second)
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}, "client 2"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := hosts(t, "c1", "c2")
			b := newBench(t, load.Plan{Threads: 1, Targets: []load.Target{{Connections: 4}}}, "c1", "c2")
			if _, err := b.slot(t, load.Slot{Seconds: 0.1}); err != nil {
				t.Fatal(err)
			}
			done := make(chan bool)
			go func() {
				time.Sleep(200 * time.Millisecond)
				c.during(pid(t, dir, "c2"))
				close(done)
			}()
			_, err := b.slot(t, load.Slot{Seconds: 0.6, Counts: true})
			<-done
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("it says %v", err)
			}
			b.talk.End()
			nothingRuns(t, dir)
		})
	}
}

// nothingRuns waits until no program that was copied to a host runs.
func nothingRuns(t *testing.T, dir string) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		out, _ := exec.Command("pgrep", "-f", dir+"/c[0-9]/.cache/line-rate/").Output()
		switch {
		case len(out) == 0:
			return
		case time.Since(began) > 5*time.Second:
			t.Fatalf("still there: %s", out)
		}
	}
}

func TestAHostThatIsNotReadyIsRefused(t *testing.T) {
	dir := hosts(t, "loud", "other", "full")
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("loud/.profile", "echo Welcome\n")
	write("other/.cache/line-rate/"+program(), "#!/bin/sh\n")
	write("full/.cache", "") // nobody can make a directory there
	for name, says := range map[string]string{
		"loud": "login shell", "other": "another program", "full": "not copied", "nobody": "resolve hostname", "-oProxyCommand=x": "--client",
	} {
		_, err := Open(t.Context(), []string{name})
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), says) ||
			strings.Count(err.Error(), "\n") > 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A signal may kill the asking program at any time.
func TestAClientEndsWithItsInput(t *testing.T) {
	dir := hosts(t, "c1")
	b := newBench(t, load.Plan{Threads: 1, Targets: []load.Target{{Connections: 2}}}, "c1")
	if err := b.talk.Tell(load.Slot{Seconds: 600, Counts: true}); err != nil {
		t.Fatal(err)
	}
	for b.answered.Load() < 100 {
		time.Sleep(time.Millisecond)
	}
	_ = syscall.Kill(b.talk.Pid(), syscall.SIGKILL)
	nothingRuns(t, dir)
}

func TestWhatCannotBeIsRefused(t *testing.T) {
	c := &client{label: "client 1"}
	r := &relay{plan: load.Plan{Targets: []load.Target{{Connections: 2, Pipelining: 1, Rate: 100}}}, device: "eth0", hosts: 1}
	one := func(change func(r *load.SlotReport, m *Machine)) error {
		s := load.SlotReport{Requests: 10, Seconds: 0.1, Bytes: 1000, Turn: load.TurnReport{Requests: 10, Seconds: 0.1}}
		m := Machine{Program: program(), RxBytes: 2000}
		change(&s, &m)
		return r.check([]reply{{client: c, word: word{Slot: &s, Machine: &m}}}, 1500, load.Slot{Seconds: 0.1})
	}
	if err := one(func(*load.SlotReport, *Machine) {}); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*load.SlotReport, *Machine){
		"another program":            func(_ *load.SlotReport, m *Machine) { m.Program = "x" },
		"answers that were doubled":  func(r *load.SlotReport, _ *Machine) { r.Turn.Requests *= 2 },
		"more than it received":      func(r *load.SlotReport, _ *Machine) { r.Bytes = 2001 },
		"more than was sent":         func(r *load.SlotReport, _ *Machine) { r.Bytes = 1501 },
		"a stop":                     func(r *load.SlotReport, _ *Machine) { r.SilenceS = 3 },
		"more than in all the slot":  func(r *load.SlotReport, _ *Machine) { r.Requests = 11 },
		"a window that is too short": func(r *load.SlotReport, _ *Machine) { r.Seconds = 1e-6 },
		"less than a byte an answer": func(r *load.SlotReport, _ *Machine) { r.Bytes = 9 },
	} {
		if err := one(change); err == nil || !strings.Contains(err.Error(), "client 1") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Notes name a client that others disturb, and one that is far slower; of all machines the busiest
// counts.
func TestTheBusiestMachineCounts(t *testing.T) {
	of := func(nth int, requests int64, m Machine) reply {
		m.AtS, m.Cores, m.LinkBps = 2, 4, 1000
		return reply{client: &client{label: fmt.Sprint("client ", nth)}, connections: 1,
			word: word{Slot: &load.SlotReport{Requests: requests, Seconds: 1, BusiestThreadS: 0.1 * float64(nth)}, Machine: &m}}
	}
	got := sum([]reply{of(1, 100, Machine{BusyS: 4, OwnS: 1, RxBytes: 50}), of(2, 40, Machine{BusyS: 2, OwnS: 2, TxBytes: 100})})
	want := map[string]float64{"client_cores_busy": 0.5, "client_foreign_load": 1.5, "line_rate_share": 0.4}
	if !maps.Equal(got.Elsewhere, want) || len(got.Notes) != 2 || !strings.HasPrefix(got.Notes[0], "client 1: other programs") ||
		!strings.HasPrefix(got.Notes[1], "client 2: it was less than half") {
		t.Errorf("%+v", got)
	}
	if got.Requests != 140 || got.Seconds != 1 || got.BusiestThreadS != 0.2 {
		t.Errorf("%+v", got)
	}
}

// What several clients counted, told as JSON and added up, has the percentiles of one that counted all.
func TestSummariesAddUpExactly(t *testing.T) {
	var all load.TargetSummary
	one, r := load.NewHistogram(), rand.New(rand.NewPCG(1, 2))
	for part := range 3 {
		h := load.NewHistogram()
		for range 1000 {
			ns := int64(math.Exp(r.NormFloat64()*2 + 12))
			h.Add(ns)
			one.Add(ns)
		}
		text, err := json.Marshal(word{Sum: &load.Summary{Targets: []load.TargetSummary{{Requests: 1000, Latency: h.Latency(),
			Statuses: map[int]int64{500: int64(part)}}}}, Latencies: []counts{countsOf(h)}, Lags: []counts{nil}})
		var told word
		if err == nil {
			err = json.Unmarshal(text, &told)
		}
		if err != nil {
			t.Fatal(err)
		}
		add(&all, told.Sum.Targets[0], told.Latencies[0], told.Lags[0])
	}
	got, want := *all.Latency, *one.Latency()
	if math.Abs(got.Mean/want.Mean-1) > 1e-3 || all.Requests != 3000 || all.Statuses[500] != 3 || all.SendLag != nil {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got.Mean = want.Mean; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestALoadIsDealtOut(t *testing.T) {
	for _, c := range []struct{ connections, clients, hosts, nth, want int }{
		{5, 0, 2, 0, 3}, {5, 0, 2, 1, 2}, {4, 1, 2, 0, 4}, {4, 1, 2, 1, 0}, {1, 3, 3, 1, 0}, {6, 9, 3, 2, 2},
	} {
		got, some := share(load.Target{Connections: c.connections, Clients: c.clients, Rate: 10}, c.nth, c.hosts)
		if some != (c.want > 0) || some && (got.Connections != c.want || got.Rate != 10*float64(c.want)/float64(c.connections)) {
			t.Errorf("%+v: %+v, %v", c, got, some)
		}
	}
}
