package run

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/topology"
	httpload "github.com/line-rate/line-rate/lab/load"
)

// A scripted group has shell scripts as servers and client.
type scripted struct {
	servers []string // what each does after reporting that it listens
	client  string
	grace   time.Duration
}

// serve waits within the shell, so that the server has a single process.
const serve = "read -r never <>fifo$$"

// endless is a client that does not end.
const endless = "exec sleep 60"

// group is ready to be measured.
func (s *scripted) group(t *testing.T) *group {
	t.Helper()
	dir, err := os.MkdirTemp("", "g") // short, since the length of a socket's path is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	scripts := filepath.Join(dir, "lab", "scripts")
	if err := os.MkdirAll(scripts, 0o755); err != nil {
		t.Fatal(err)
	}
	c := newClock()
	g := &group{engine: &engine{plan: Plan{clock: c}, file: &results.File{Provenance: &results.Provenance{Block: &results.BlockPlan{}}}},
		profiles: taken{}}
	for i, does := range s.servers {
		g.sequence = append(g.sequence, i)
		g.loads = append(g.loads, load{dir: dir, addr: "nowhere:" + string(rune('1'+i)), link: &topology.Link{},
			serves: &experiment.Server{Process: "sh", Ready: "listening addr=nowhere"}, generator: setting.HTTPLoad, clock: c,
			connections: 1,
			slot:        100 * time.Millisecond, rounds: 1, grace: s.grace, ready: time.Minute,
			server: []string{"sh", "-c", "mkfifo fifo$$; echo 'it is listening addr=nowhere' >&2; " + does}})
		g.trials = append(g.trials, results.Trial{Metrics: map[string]float64{}})
	}
	if err := os.WriteFile(filepath.Join(scripts, "trial.sh"), []byte("#!/bin/sh\nread -r plan\n"+s.client+"\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "said"), []byte(said(t, len(s.servers))), 0o644); err != nil {
		t.Fatal(err)
	}
	return g
}

// said is what a client prints about one slot of each server, up to the line
// that it holds its connections.
func said(t *testing.T, servers int) string {
	t.Helper()
	var out bytes.Buffer
	at := newClock().mono
	for i := range servers {
		at += 1e8
		if err := (httpload.Line{Slot: &httpload.SlotReport{Slot: i, Target: i, AtNS: at, Seconds: 0.1, Requests: 10,
			ServerCPUS: []float64{0.01}}}).Write(&out); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

// summed is the client's last line, for one server.
const summed = `echo '{"summary":{"version":"v","threads":1,"start":"2026-01-01T00:00:00Z","finish":"2026-01-01T00:00:01Z","latency_step":0.01,"targets":[` +
	`{"name":"nowhere:1","requests":10,"bytes":0,"non2xx":0,"errors":0,"timeouts":0,"resets":0,"mismatches":0,"compared":1,"unanswered":0}]}}'`

// measures is a client that follows the protocol.
const measures = `cat said; echo '{"held":true}'; read -r end; [ "$end" = end ] || exit 9; ` + summed

func serving(does string) func(*scripted) { return func(s *scripted) { s.servers[0] = does } }
func loading(does string) func(*scripted) { return func(s *scripted) { s.client = does } }

// processRows has the rows of the gates on how processes end.
var processRows = map[string][]row[*scripted]{
	gate.ServerExited: {
		{"it exits", both(serving("sleep 0.2; exit 1"), loading(endless)), gate.ServerExited},
		{"it serves to the end", func(*scripted) {}, none},
		{"it exits, and the client fails for that", both(serving("sleep 0.2; exit 1"), loading("sleep 0.6; exit 1")),
			gate.ServerExited},
	},
	gate.LostWorker: {
		{"its master ends with it", both(serving("sleep 0.2; exit 4"), loading(endless)), gate.LostWorker},
	},
	gate.ClientFailed: {
		{"it fails", loading("exit 1"), gate.ClientFailed},
		{"missing: it says nothing", loading("exit 0"), gate.ClientFailed},
		{"it talks nonsense", loading("echo nonsense"), gate.ClientFailed},
		{"it measures", func(*scripted) {}, none},
	},
	gate.ClientHung: {
		{"it does not end", func(s *scripted) { s.client, s.grace = endless, -4*time.Second }, gate.ClientHung},
		{"missing: it has said all and does not end",
			func(s *scripted) { s.client, s.grace = measures+"; "+endless, -4*time.Second }, gate.ClientHung},
		{"it ends", func(*scripted) {}, none},
	},
}

func TestProcessesCloseGates(t *testing.T) {
	t.Parallel()
	for name, rows := range processRows {
		for _, r := range rows {
			t.Run(name+"/"+r.what, func(t *testing.T) {
				t.Parallel()
				s := &scripted{[]string{serve}, measures, time.Minute}
				r.spoil(s)
				g := s.group(t)
				if err := g.up(t.Context(), g.rotate); err != nil {
					t.Fatal(err)
				}
				closes(t, r.what, r.closes, func(fail failer) {
					for _, one := range g.trials[0].Reasons {
						if processRows[one.Gate] != nil && one.Gate != gate.LostWorker || r.closes == gate.LostWorker &&
							one.Gate == gate.LostWorker {
							fail(one.Gate, "%s", one.Detail)
						}
					}
				})
			})
		}
	}
}

// over fails if one of a group's servers still runs.
func over(t *testing.T, g *group) {
	t.Helper()
	for _, s := range g.servers {
		if !s.gone() {
			t.Errorf("%s runs on", s.name())
		}
	}
}

// If a client cannot start, it cannot in the next block either: the run ends
// with the program's own message.
func TestAClientThatDoesNotStartEndsTheRun(t *testing.T) {
	for code, says := range map[string]string{"2": "unknown option",
		"3": "trial.sh: http_load is not built; run 'make build'", "126": "not a program", "127": "no such file"} {
		g := (&scripted{[]string{serve}, "echo \"" + says + "\" >&2; exit " + code, time.Minute}).group(t)
		if err := g.up(t.Context(), g.rotate); err == nil || err.Error() != "the client did not start: "+says {
			t.Errorf("exit status %s: %v", code, err)
		}
		over(t, g)
	}
	g := (&scripted{[]string{serve}, "", time.Minute}).group(t)
	if err := os.Remove(filepath.Join(g.loads[0].dir, "lab", "scripts", "trial.sh")); err != nil {
		t.Fatal(err)
	}
	if err := g.up(t.Context(), g.rotate); err == nil || !strings.HasPrefix(err.Error(), "the client did not start: ") {
		t.Errorf("%v", err)
	}
}

// A run of a few seconds does not wait for a server for longer than it may last.
func TestAServerIsNotWaitedForLongerThanTheBudget(t *testing.T) {
	t.Parallel()
	for budget, want := range map[time.Duration]time.Duration{15 * time.Second: 12 * time.Second, time.Minute: readyWithin,
		time.Second: readyLeast} {
		if got := (Plan{Budget: budget}).patience(); got != want {
			t.Errorf("of %v, %v; want %v", budget, got, want)
		}
	}
}

// A server counts as up when all its workers listen.
func TestEveryWorkerHasToListen(t *testing.T) {
	g := (&scripted{[]string{"echo 'so is the second listening addr=nowhere' >&2; " + serve}, measures,
		time.Minute}).group(t)
	for workers, up := range map[int]bool{2: true, 3: false} {
		l := g.loads[0]
		l.workers, l.ready = workers, 300*time.Millisecond
		if up {
			l.ready = time.Minute
		}
		s, err := l.start(t.Context())
		if (err == nil) != up {
			t.Errorf("%d workers: %v", workers, err)
		}
		if s != nil {
			s.stop()
		}
	}
}

// An interrupted run leaves nothing running, whatever it was waiting for.
func TestInterruptedWhileWaiting(t *testing.T) {
	why := errors.New("a signal came")
	soon := func(t *testing.T) context.Context {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(200*time.Millisecond, func() { cancel(why) })
		return ctx
	}
	t.Run("for a server", func(t *testing.T) {
		l := (&scripted{[]string{serve}, measures, time.Minute}).group(t).loads[0]
		l.server = []string{"sleep", "60"}
		if s, err := l.start(soon(t)); s != nil || !errors.Is(err, why) {
			t.Errorf("%v", err)
		}
	})
	t.Run("for a client", func(t *testing.T) {
		g := (&scripted{[]string{serve, serve}, endless, time.Minute}).group(t)
		if err := g.up(soon(t), g.rotate); !errors.Is(err, why) {
			t.Errorf("%v", err)
		}
		over(t, g)
	})
	if left := children("sleep"); len(left) > 0 {
		t.Errorf("%v run on", left)
	}
}

// up starts a group's servers until the test ends.
func up(t *testing.T, g *group) {
	t.Helper()
	var err error
	if g.servers, err = startServers(t.Context(), g.loads); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopServers(g.servers) })
}
