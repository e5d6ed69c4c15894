package run

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/wire"
	httpload "github.com/line-rate/line-rate/lab/load"
)

// A load is one condition's server and client, ready to start, with everything
// that follows from the condition's settings.
type load struct {
	dir         string
	addr        string // where the server listens
	port        int
	link        measure.Link
	split       cores.Split
	serves      *experiment.Server
	at          experiment.Place
	workers     int // 0: without prefork
	generator   string
	connections int
	pipelining  int
	rate        float64    // requests a second asked for; 0: a closed loop
	asked       gate.Asked // what faults are judged by
	lineRate    float64
	lab         []string // the lab's own command
	route       string   // path requested; empty where the server sends events
	server      []string // command lines, without the topology's wrapping
	client      []string
	threads     int           // of the client; 0: one a core
	slot        time.Duration // counted time of a slot
	rounds      int
	warmup      time.Duration
	knobs       []knob
	profile     time.Duration // length of the profiled window; 0: no profiles
	grace       time.Duration // how long the client may take beyond its load
}

// load gives the condition with these settings and a server that listens on port.
func (p Plan) load(link measure.Link, s setting.Levels, port int) load {
	x := p.Experiment
	server := x.Server(s)
	l := load{
		dir: string(p.Root), lab: p.Lab, link: link, split: p.Split, lineRate: x.Topology.LineRateBps,
		addr: link.Host() + ":" + strconv.Itoa(port), port: port, serves: server, generator: experiment.Generator(s),
		connections: s.Whole(setting.Connections, 0), pipelining: s.Whole(setting.Pipelining, 1),
		rate: float64(s.Whole(setting.Rate, 0)), threads: s.Whole(setting.ClientWorkers, 0),
		slot: seconds(x.Block.SlotS), rounds: x.Block.Rounds, warmup: seconds(x.Block.WarmupS),
		knobs: p.knobs(wire.ServerDevice, s), profile: p.profileFor(), grace: graceOf(s),
	}
	if list, ok := s[setting.ServerCPUs]; ok {
		cpus, err := cores.Parse(list.String())
		if err != nil {
			panic(err) // the experiment was checked
		}
		l.split.Server = cpus
	}
	l.asked = results.Asked(x, s, len(p.Split.Server), x.Block.SlotS*float64(x.Block.Rounds))
	// By default one worker on each of the server's cores.
	each := max(len(l.split.Server), 1)
	l.workers = server.Workers(s, each)
	if server.Routed() {
		l.route = s[setting.Route].String()
	}
	l.at = experiment.Place{Host: link.Host(), Port: strconv.Itoa(port),
		Workers: strconv.Itoa(s.Whole(setting.Workers, each)), CPUs: cores.Format(l.split.Server)}
	if l.profile > 0 {
		l.at.Sockets = l.pprof()
	}
	l.server = l.serverLine(s)
	l.client = l.clientLine(s)
	return l
}

// serverLine is the server's command line. What is not started by the script
// itself is started through it.
func (l load) serverLine(s setting.Levels) []string {
	if l.serves.Events {
		s = offered(s)
	}
	words, env := l.serves.Line(l.at, s)
	argv := []string{scriptPath("server.sh")}
	for _, one := range env {
		argv = append(argv, "--env", one)
	}
	if words[0] == argv[0] {
		return append(argv, words[1:]...)
	}
	if l.at.CPUs != "" {
		argv = append(argv, "--cpus", l.at.CPUs)
	}
	return append(append(argv, "--command", "--"), words...)
}

// clientLine is the command line that a reader would type for this condition
// alone.
func (l load) clientLine(s setting.Levels) []string {
	counts := time.Duration(l.rounds) * l.slot
	if l.serves.Events {
		return l.onCores(receiver(l.addr, s, l.warmup, counts))
	}
	if l.serves.Streams {
		return l.onCores(readers(l.addr, s, l.warmup, counts))
	}
	argv := []string{scriptPath("trial.sh"), "--url", address(l.addr, l.route), "--generator", l.generator,
		"--connections", s[setting.Connections].String(), "--pipelining", strconv.Itoa(l.pipelining),
		"--duration", number(counts.Seconds()), "--warmup", number(l.warmup.Seconds()), "--workers", strconv.Itoa(l.threads)}
	if l.rate > 0 {
		argv = append(argv, "--rate", number(l.rate))
	}
	return l.onCores(argv)
}

// rotates reports whether the condition's load generator can take turns between
// servers; only the lab's own can.
func (l load) rotates() bool { return l.generator == setting.HTTPLoad }

// onCores pins a client's command line to the client's cores.
func (l load) onCores(argv []string) []string {
	if len(l.split.Client) > 0 {
		argv = append(argv, "--cpus", cores.Format(l.split.Client))
	}
	return argv
}

// target describes the condition to the lab's own generator.
func (l load) target() httpload.Target {
	return httpload.Target{Name: l.addr, URL: address(l.addr, l.route), Connections: l.connections, Pipelining: l.pipelining,
		Rate: l.rate, Answers: l.serves.Answers}
}

// address is the URL that the client requests. The slash between keeps any path on this
// server.
func address(server, path string) string {
	return "http://" + server + "/" + strings.TrimPrefix(path, "/")
}

// longestReason is the longest detail of a reason, in characters.
const longestReason = 500

// commands are the command lines that a reader would type. A side of a wire
// stands for the number that lab wire prints.
func (l load) commands() []string {
	side := func(role string, argv []string) string {
		line := results.CommandLine(argv)
		if l.link.PID() > 0 {
			line = wire.Within(role, line)
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

// lasting is the client's command line with another counted time.
func (l load) lasting(counts time.Duration) []string {
	argv := slices.Clone(l.client)
	for i := range argv[:len(argv)-1] {
		if argv[i] == "--duration" {
			argv[i+1] = number(counts.Seconds())
		}
	}
	return argv
}

// name identifies the condition in messages.
func (l load) name() string { return fmt.Sprintf("%s on %s", l.calls(), l.addr) }

// calls is the server's name in messages: that of its processes, if it is known.
func (l load) calls() string { return cmp.Or(l.serves.Process, l.serves.Name) }
