package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/load"
)

// The tests run real processes: this test binary is also the lab of each host, by
// the first word of its call, and the load generator.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case AgentCall:
			os.Exit(asAgent())
		case "engine":
			os.Exit(asEngine(os.Args[2:]))
		case "generator":
			os.Exit(asGenerator())
		case "garbage":
			fmt.Println("Welcome to this host!")
			os.Exit(0)
		case "future":
			fmt.Println(`{"kind":"hello","hello":{"version":99,"profile":{"schema_version":2,"id":"a","name":"a"},"machine":"m","commit":"","dirty":false,"binaries":{},"tools":{},"kernel":{},"memory_bytes":1,"cpus":[0],"device":"","line_rate_bps":0,"files":1}}`)
			time.Sleep(10 * time.Second)
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func owner() Owner {
	root, _ := os.Getwd()
	return Owner{Root: root, Self: filepath.Join(root, ".tools/bin/lab"), Allowed: []int{0},
		Profile: host.Profile{SchemaVersion: host.Version, ID: "made-up", Name: "Made up"}}
}

func asAgent() int {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	if err := Agent(context.Background(), owner(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "lab: %v\n", err)
		return 3
	}
	return 0
}

// asEngine does what it is told, one word after the other, and prints what came of
// it.
func asEngine(words []string) int {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	s, ctx := Serve(context.Background(), os.Stdin, os.Stdout)
	defer s.Close()
	err := func() error {
		asked, err := s.Asked(ctx)
		if err != nil {
			return err
		}
		own, err := owner().Say(asked)
		if err != nil {
			return err
		}
		if err := s.Meet(ctx, &own); err != nil {
			return err
		}
		for _, w := range words {
			if err := engineDoes(ctx, s, w); err != nil {
				return err
			}
		}
		return nil
	}()
	if err != nil {
		_ = os.WriteFile("ended", []byte(err.Error()+"\n"), 0o644)
		fmt.Fprintf(os.Stderr, "lab: %v\n", err)
		return 3
	}
	return 0
}

func engineDoes(ctx context.Context, s *Server, what string) error {
	word, value, _ := strings.Cut(what, "=")
	switch word {
	case "clocks":
		clocks, err := s.Clocks(ctx)
		if err != nil {
			return err
		}
		text, _ := json.Marshal(clocks)
		fmt.Fprintf(s.Out(), "%s\n", text)
	case "say":
		fmt.Fprintln(s.Errs(), value)
	case "exit":
		n, _ := strconv.Atoi(value)
		s.Close()
		os.Exit(n)
	case "load":
		return engineLoads(ctx, s, value)
	case "wait":
		d, _ := time.ParseDuration(value)
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	case "keep":
		root, _ := os.Getwd()
		return s.Keep(ctx, journal.Root(root), false, strings.Split(value, ","))
	}
	return nil
}

// engineLoads has all clients carry out a plan whose target's name says what the
// generator is to do.
func engineLoads(ctx context.Context, s *Server, does string) error {
	clocks, err := s.Clocks(ctx)
	if err != nil {
		return err
	}
	begin := time.Now().Add(400 * time.Millisecond)
	var all []Running
	for i, c := range clocks {
		at := begin.Add(time.Duration(c.OffsetS * 1e9)).UnixNano()
		p := &load.Plan{TimeoutS: 1, Targets: []load.Target{{Name: does, URL: "http://127.0.0.1:1/", Connections: 1,
			Pipelining: 1}},
			Slots: []load.Slot{{Seconds: 0.3, Counts: true, AtNS: at, FillS: 0.05}}}
		from, to := p.Counted()
		r, err := s.Start(ctx, i+1, Load{Plan: p, LimitNS: int64(20 * time.Second), FromNS: from, ToNS: to})
		if err != nil {
			fmt.Fprintf(s.Out(), "client %d: not started: %v\n", i+1, err)
			return err
		}
		all = append(all, r)
	}
	for i, r := range all {
		select {
		case <-r.Held():
			r.Release()
		case <-r.Done():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		<-r.Done()
		printed, seen, err := r.Result()
		if err != nil {
			kind := "failed"
			if _, ok := errors.AsType[Lost](err); ok {
				kind = "lost"
			}
			if _, ok := errors.AsType[Refused](err); ok {
				kind = "refused"
			}
			fmt.Fprintf(s.Out(), "client %d: %s: %v\n", i+1, kind, err)
			continue
		}
		report, err := load.ReadReport(bytes.NewReader(printed))
		if err != nil {
			return err
		}
		late := time.Duration(report.Slots[0].AtNS - begin.UnixNano() - int64(clocks[i].OffsetS*1e9))
		fmt.Fprintf(s.Out(), "client %d: %d requests, held %v, close %v, busy %v, rx %v\n", i+1,
			report.Summary.Targets[0].Requests, report.Held,
			late.Abs() < 200*time.Millisecond, seen.Metrics["client_thread_busy_max"] >= 0, seen.RxBytes >= 0)
	}
	return nil
}

// asGenerator is a load generator that loads nothing. It writes its process id to
// a file, so that tests see that it has ended.
func asGenerator() int {
	p, rest, err := load.ReadPlan(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	_ = os.WriteFile("generator.pid", []byte(strconv.Itoa(os.Getpid())), 0o644)
	does := p.Targets[0].Name
	switch does {
	case "garbage":
		fmt.Println("no line of JSON")
		time.Sleep(10 * time.Second)
		return 0
	case "fail":
		fmt.Fprintln(os.Stderr, "http_load: cannot connect")
		return 1
	case "refuse":
		fmt.Fprintln(os.Stderr, "trial.sh: http_load is not built; run 'make build'")
		return 3
	case "long":
		time.Sleep(time.Minute)
		return 0
	}
	slot := p.Slots[0]
	time.Sleep(time.Duration(slot.AtNS + int64(slot.Seconds*1e9) - Monotonic()))
	_ = load.Line{Slot: &load.SlotReport{AtNS: slot.AtNS, Seconds: slot.Seconds, Requests: 7,
		ServerCPUS: []float64{}}}.Write(os.Stdout)
	_ = load.Line{Held: true}.Write(os.Stdout)
	one := make([]byte, 4)
	_, _ = rest.Read(one)
	_ = load.Line{Summary: &load.Summary{Version: "1", Threads: 1, Start: time.Now(), Finish: time.Now().Add(1),
		LatencyStep: 0.01,
		Targets:     []load.TargetSummary{{Name: does, Requests: 7}}}}.Write(os.Stdout)
	return 0
}

// A rig is a made-up fleet of local hosts, each with a checkout of its own.
type rig struct {
	t    *testing.T
	root journal.Root // of the controller
	inv  *Inventory
}

func newRig(t *testing.T, clients int) *rig {
	t.Helper()
	r := &rig{t: t, root: journal.Root(t.TempDir()), inv: &Inventory{}}
	for i := range clients + 1 {
		h := Host{Number: i, Name: fmt.Sprintf("h%d.example", i), Address: "127.0.0.1", Local: true, Dir: r.checkout()}
		h.asked = Asked{Version: protocol, Address: "127.0.0.1", Server: i == 0}
		r.inv.Hosts = append(r.inv.Hosts, h)
	}
	return r
}

// checkout makes one whose programs are this test binary.
func (r *rig) checkout() string {
	r.t.Helper()
	dir, self := r.t.TempDir(), r.self()
	r.write(dir, ".tools/bin/lab", "#!/bin/sh\nexec "+self+` "$@"`+"\n")
	r.write(dir, ".tools/bin/http_load", "one build\n")
	r.write(dir, trialScript, "#!/bin/sh\n[ \"$1\" != --check ] || exit 0\nexec "+self+" generator\n")
	return dir
}

func (r *rig) self() string {
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	return self
}

func (r *rig) write(dir, name, text string) {
	r.t.Helper()
	path := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
		r.t.Fatal(err)
	}
}

// lab replaces what a host's lab does.
func (r *rig) lab(host int, script string) {
	r.t.Helper()
	r.write(r.inv.Hosts[host].Dir, ".tools/bin/lab", "#!/bin/sh\n"+script+"\n")
}

// A came is what a run of the engine gave.
type came struct {
	status    int
	err       error
	out, errs string
	collected []string
}

// run has the engine do as it is told. during is called while it does.
func (r *rig) run(during func(f *Fleet), words ...string) came {
	r.t.Helper()
	var out, errs bytes.Buffer
	f, err := Reach(context.Background(), r.inv, r.root, append([]string{"engine"}, words...), false, &out, &errs)
	if err != nil {
		return came{err: err, out: out.String(), errs: errs.String()}
	}
	if during != nil {
		go during(f)
	}
	status, err := f.Run(r.t.Context())
	f.Close()
	c := came{status, err, out.String(), errs.String(), f.Collected()}
	r.t.Logf("status %d, %v\n%s%s", c.status, c.err, c.out, c.errs)
	return c
}

// pid waits for the process id of a host's generator.
func (r *rig) pid(host int) (pid int) {
	eventually(r.t, "a load", func() bool {
		text, _ := os.ReadFile(filepath.Join(r.inv.Hosts[host].Dir, "generator.pid"))
		pid, _ = strconv.Atoi(string(text))
		return pid > 0
	})
	return pid
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 1000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("no %s within 10 s", what)
}

// runs tells whether a process does anything.
func runs(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	return !slices.Contains([]string{"Z", "X"}, f[0])
}
