package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/internal/autocannon"
	"github.com/line-rate/line-rate/lab/internal/bound"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/eventsink"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/oneline"
	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/provenance"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
	"github.com/line-rate/line-rate/lab/internal/topology"
)

// The server's exit statuses that are told apart; server.sh has the first as
// well, for a server that was not built.
const (
	addressInUse = 3
	workerLost   = 4 // a worker died unasked
)

// A load is one trial's server and client, ready to start.
type load struct {
	dir         string
	addr        string // where the server listens
	link        *topology.Link
	split       cores.Split
	program     string // command name of the server's processes
	found       *provenance.Programs
	workers     int // 0: no prefork
	generator   string
	connections int
	pipelining  int
	rate        float64    // asked for; 0: a closed loop
	asked       gate.Asked // what the gates hold the trial's figures against
	lineRate    float64
	lab         []string // the lab's own command, for what compares answers
	serves      string   // the server's name among the settings
	route       string   // what is requested; empty where the server sends events
	server      []string // command lines, without the topology's wrapping
	client      []string
	wall        wallClock
	window      time.Duration // the measured part
	warmup      time.Duration
	knobs       []knob
	profile     bool                // take profiles in a second window
	keep        func(*profiles.Set) // is given them
	limit       time.Duration       // when the client is taken to hang
}

func (p Plan) load(link *topology.Link, s setting.Levels) load {
	size := p.Experiment.Sizes[p.Size]
	get := func(name string) string { return s[name].String() }
	whole := func(name string, otherwise int64) int64 {
		if n, ok := s[name].Int(); ok {
			return n
		}
		return otherwise
	}
	addr := link.Host + ":" + strconv.Itoa(p.Port)
	l := load{dir: string(p.Root), found: p.found, addr: addr, link: link, split: p.Split, lineRate: p.Experiment.Topology.LineRateBps,
		generator: generatorOf(s), connections: int(whole(setting.Connections, 0)), pipelining: int(whole(setting.Pipelining, 1)),
		rate: float64(whole(setting.Rate, 0)), wall: p.wall}
	server := serverOf(s)
	l.program, l.serves, l.lab = programs[server], server, p.Lab
	l.server = []string{scriptPath("server.sh")}
	if server != setting.Fiber {
		l.server = append(l.server, "--server", server)
	}
	l.asked = results.Asked(p.Experiment, s, len(p.Split.Server), size.DurationS)
	if server == setting.Fiber {
		// Left to the machine, it is one a core of the server's.
		l.workers = int(whole(setting.Workers, int64(max(len(p.Split.Server), 1))))
		l.server = append(l.server, "--workers", strconv.Itoa(l.workers))
	}
	if server == setting.Producer {
		l.client = receiver(addr, s, size)
	} else {
		l.route = get(setting.Route)
		l.client = []string{scriptPath("trial.sh"), "--url", address(addr, l.route),
			"--connections", get(setting.Connections), "--pipelining", strconv.Itoa(l.pipelining),
			"--duration", number(size.DurationS), "--warmup", number(size.WarmupS),
			"--workers", strconv.FormatInt(whole(setting.ClientWorkers, 0), 10)}
		if l.generator != setting.Autocannon {
			l.client = append(l.client, "--generator", l.generator)
		}
		if l.rate > 0 {
			l.client = append(l.client, "--rate", number(l.rate))
		}
		if l.generator == setting.Fortio {
			l.client = append(l.client, "--answers", server)
		}
	}
	l.knobs = p.knobs(link.NetDevice, s)
	if list, ok := s[setting.ServerCPUs]; ok {
		cpus, err := cores.Parse(list.String())
		if err != nil {
			panic(err) // the experiment was checked
		}
		l.split.Server = cpus
	}
	if len(l.split.Server) > 0 {
		l.server = append(l.server, "--cpus", cores.Format(l.split.Server))
		l.client = append(l.client, "--cpus", cores.Format(l.split.Client))
	}
	l.server = append(l.server, "--", "--addr", addr)
	if prefork, ok := s[setting.Prefork].Bool(); ok {
		l.server = append(l.server, "--prefork="+strconv.FormatBool(prefork))
		if !prefork {
			l.workers = 0
		}
	}
	for _, option := range []struct{ setting, flag string }{
		{setting.Stack, "--stack"}, {setting.Index, "--index"}, {setting.WriteBuffer, "--write-buffer"}, {setting.SpinNs, "--spin-ns"},
		{setting.BlockRateNs, "--block-rate-ns"},
	} {
		if v, ok := s[option.setting]; ok {
			l.server = append(l.server, option.flag, v.String())
		}
	}
	if server == setting.Producer {
		l.server = append(l.server, producer(s)...)
	}
	if l.profile = p.Profile || p.Experiment.Profile != nil; l.profile {
		l.server = append(l.server, "--pprof-sockets", pprofDir)
	}
	l.window = time.Duration(size.DurationS * float64(time.Second))
	l.warmup = time.Duration(size.WarmupS * float64(time.Second))
	l.limit = time.Duration((size.DurationS+size.WarmupS)*float64(time.Second)) + 15*time.Second
	return l
}

// address is what the client requests: on this server, whatever the path is.
func address(server, path string) string {
	return (&url.URL{Scheme: "http", Host: server, Path: path}).String()
}

// longestReason is how many signs of what a program said last are kept.
const longestReason = 500

// number writes out a million, which scripts do not take as 1e+06.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// commands are the lines a reader would type; the wire's process ids, which
// differ each time, are left as PID.
func (l load) commands() []string {
	side := func(role string, argv []string) string {
		line := strings.Join(argv, " ")
		if l.link.NetPID > 0 {
			line = scriptPath("wire.sh") + " in " + role + " PID -- " + line
		}
		return line
	}
	var lines []string
	for _, k := range l.knobs {
		line := strings.Join(k.line(), " ")
		if k.inside {
			line = side("server", k.line())
		}
		lines = append(lines, line)
	}
	return append(lines, side("server", l.server), side("client", l.client))
}

// trial makes one trial. An error ends the run: the trial could not begin, or
// the run was interrupted. All else makes the trial invalid.
func (l load) trial(ctx context.Context) (t results.Trial, err error) {
	back, err := l.turn(ctx)
	if err != nil {
		return t, err
	}
	defer func() { err = also(err, back()) }()
	t = results.Trial{StartedAt: l.wall.now(), Bound: bound.Unknown, Metrics: map[string]float64{}}
	var fail failer = func(name, format string, args ...any) {
		t.Reasons = append(t.Reasons, results.Reason{Gate: name, Detail: oneline.Of(fmt.Sprintf(format, args...), longestReason)})
	}
	if l.profile {
		if err := freshSockets(l.dir); err != nil {
			return t, err
		}
	}
	answers, err := l.compare()
	if err != nil {
		return t, err
	}
	defer answers.stop()
	server, err := l.startServer(ctx)
	if err != nil {
		return t, err
	}
	defer server.stop()
	// Before the answers are compared: the connections that takes are not to be
	// among those that there were beforehand.
	var clientPID atomic.Int64
	serverOn, clientOn := l.split.On()
	sampler, err := telemetry.Start(telemetry.Targets{
		Server: server.proc.Pid(), ServerName: l.program,
		Client:     func() int { return int(clientPID.Load()) },
		ServerCPUs: serverOn, ClientCPUs: clientOn,
		Ends: l.ends(), NetPID: l.link.NetPID, NetDevice: l.link.NetDevice, Wire: l.link.Wire,
		Window: l.window,
	})
	if err != nil {
		return t, err
	}
	watched := sync.OnceFunc(sampler.Stop)
	defer watched()
	if err := answers.begin(ctx, fail); err != nil {
		return t, err
	}
	if len(t.Reasons) > 0 {
		if server.gone() {
			fail(gate.ServerExited, "the server exited before the trial: %s", server.lastWords())
		}
		return t, nil // its throughput would be of something else
	}

	var out bytes.Buffer
	client, err := leash.Start(leash.Spec{Dir: l.dir, Argv: l.link.Client(l.client), Stdout: &out})
	if err != nil {
		watched()
		return t, fmt.Errorf("the client did not start: %w", err)
	}
	clientPID.Store(int64(client.Pid()))
	defer client.Stop(client.Pid(), time.Second)

	answers.beside(client.Pid(), l)

	timeout := time.NewTimer(l.limit)
	defer timeout.Stop()
	select {
	case <-ctx.Done():
		watched()
		return t, context.Cause(ctx)
	case <-server.proc.Done():
		client.Stop(client.Pid(), 0)
	case <-timeout.C:
		fail(gate.ClientHung, "the client had not ended %v after it should have", 15*time.Second)
		client.Stop(client.Pid(), 0)
	case <-client.Done():
	}
	watched()
	answers.stop()

	// Without a server to answer, what the client says is about that.
	if server.gone() {
		if server.proc.ExitCode() == workerLost {
			fail(gate.LostWorker, "%s", server.lastWords())
		} else {
			fail(gate.ServerExited, "the server exited in mid-trial: %s", server.lastWords())
		}
	}
	if l.link.Lost() {
		return t, errors.New("the wire between server and client is gone; run again")
	}
	if err := client.Err(); err != nil && len(t.Reasons) == 0 {
		switch code := client.ExitCode(); code {
		case 2, 3, 126, 127: // the script's own refusals, or the shell's: the next trial would meet the same
			return t, fmt.Errorf("the client did not start: %s", client.LastLine())
		default:
			fail(gate.ClientFailed, "the client failed (%v): %s", err, client.LastLine())
		}
	}
	if len(t.Reasons) == 0 {
		l.judge(&t, out.Bytes(), sampler, answers, fail)
	}
	if l.profile && len(t.Reasons) == 0 {
		if err := l.profiled(ctx, &t, server, fail); err != nil {
			return t, err
		}
	}
	t.Valid = len(t.Reasons) == 0
	return t, nil
}

// ends is how many ends of a connection lie on the server's side.
func (l load) ends() int {
	if l.link.NetPID == 0 {
		return 2
	}
	return 1
}

// judge takes the figures over and closes the gates.
func (l load) judge(t *results.Trial, stdout []byte, sampler *telemetry.Sampler, answers *comparison, fail failer) {
	r, err := l.parse(stdout)
	if err != nil {
		fail(gate.ClientFailed, "%v", err)
		return
	}
	w := sampler.Between(r.Start, r.Finish, r.Metrics["throughput_rps"], l.lineRate)
	maps.Copy(t.Metrics, r.Metrics)
	maps.Copy(t.Metrics, w.Metrics)
	perEvent(t.Metrics)
	if len(r.Below) > 0 {
		t.Below = r.Below
	}
	if len(r.Resolution) > 0 {
		t.Resolution = r.Resolution
	}
	take(t, w)
	l.gates(r, w, t.Metrics, fail)
	answers.judge(l, r, fail)
	t.Bound, t.BoundWhy = bound.Decide(bound.Of(t.Metrics, l.lineRate))
}

// take copies what a trial keeps beside its metrics.
func take(t *results.Trial, w telemetry.Window) {
	for _, c := range w.Cores {
		t.Cores = append(t.Cores, results.Core{
			CPU: c.CPU, User: share(c.User), System: share(c.System), SoftIRQ: share(c.SoftIRQ), Steal: share(c.Steal), Idle: share(c.Idle),
		})
	}
	for _, busy := range w.ClientThreads {
		if busy >= 0.01 {
			t.ClientThreads = append(t.ClientThreads, share(busy))
		}
	}
	for _, queue := range slices.Sorted(maps.Keys(w.Interrupts)) {
		t.Interrupts = append(t.Interrupts, results.Interrupt{Name: queue, PerS: w.Interrupts[queue]})
	}
}

// share rounds to a hundredth of a percent, which is finer than clock ticks.
func share(v float64) float64 { return math.Round(v*1e4) / 1e4 }

func generatorOf(s setting.Levels) string {
	if name, ok := s[setting.Generator]; ok {
		return name.String()
	}
	return setting.Autocannon
}

func (l load) parse(stdout []byte) (*generator.Result, error) {
	switch l.generator {
	case setting.Sink:
		return eventsink.Parse(stdout)
	}
	r, err := autocannon.Parse(stdout)
	if err == nil {
		r.Asked(l.rate) // which autocannon does not print
	}
	return r, err
}

// A server is the running server.
type server struct {
	proc    *leash.Proc
	program string
}

// readyWithin bounds the wait for a server; it also covers a machine whose
// cores are busy with many workers starting at once.
const readyWithin = 20 * time.Second

func (l load) startServer(ctx context.Context) (*server, error) {
	var listening, need atomic.Int64
	need.Store(1)
	if l.workers > 0 {
		need.Store(int64(l.workers))
	}
	ready := make(chan struct{})
	var closed atomic.Bool
	proc, err := leash.Start(leash.Spec{Dir: l.dir, Argv: l.link.Server(l.server), Lines: func(line string) {
		// Its profiles' own listeners say the same of themselves.
		if strings.Contains(line, " listening addr=") && !strings.Contains(line, "pprof pid=") && listening.Add(1) == need.Load() && closed.CompareAndSwap(false, true) {
			close(ready)
		}
	}})
	if err != nil {
		return nil, fmt.Errorf("the server did not start: %w", err)
	}
	s := &server{proc, l.program}
	select {
	case <-ready:
		if err := l.own(s); err != nil {
			s.stop()
			return nil, err
		}
		return s, nil
	case <-proc.Done():
		if proc.ExitCode() == addressInUse && strings.Contains(proc.LastLine(), l.addr) {
			return nil, fmt.Errorf("%s is already in use; stop what listens there, or choose another with --port", l.addr)
		}
		return nil, fmt.Errorf("the server did not start: %s", s.lastWords())
	case <-ctx.Done():
		s.stop()
		return nil, context.Cause(ctx)
	case <-time.After(readyWithin):
		s.stop()
		return nil, fmt.Errorf("the server was not listening after %v: %s", readyWithin, proc.LastLine())
	}
}

// processes are the server's own, below whatever wraps them, parents first.
func (s *server) processes() []int {
	return slices.DeleteFunc(telemetry.Descendants(s.proc.Pid()), func(pid int) bool { return telemetry.Command(pid) != s.program })
}

// first is the one that ends the others with itself.
func (s *server) first() int {
	if own := s.processes(); len(own) > 0 {
		return own[0]
	}
	return s.proc.Pid()
}

func (s *server) gone() bool {
	select {
	case <-s.proc.Done():
		return true
	default:
		return false
	}
}

func (s *server) lastWords() string {
	line := strings.TrimPrefix(s.proc.LastLine(), s.program+": ")
	if err := s.proc.Err(); err != nil {
		return strings.TrimSpace(fmt.Sprintf("%s (%v)", line, err))
	}
	return line
}

func (s *server) stop() { _ = s.proc.Stop(s.first(), 3*time.Second) }
