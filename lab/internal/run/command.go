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
	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/wire"
	httpload "github.com/line-rate/line-rate/lab/load"
)

// A load is one condition's server and client, ready to start, with everything that follows from the
// condition's settings.
type load struct {
	Plan    // with the cores of this condition
	dir     string
	link    measure.Link
	port    int // where the server listens
	levels  setting.Levels
	asked   gate.Asked // what faults are judged by
	serves  *experiment.Server
	at      experiment.Place
	server  []string // command lines, without the topology's wrapping
	client  []string
	knobs   []knob
	profile time.Duration // length of the profiled window; 0: no profiles
}

// load gives the condition with these settings and a server that listens on port.
func (p Plan) load(link measure.Link, s setting.Levels, port int) load {
	x := p.Experiment
	l := load{Plan: p, dir: string(p.Root), link: link, port: port, levels: s, serves: x.Server(s),
		asked: results.Asked(x, s, len(p.Split.Server), x.Block.SlotS*float64(x.Block.Rounds)),
		knobs: p.knobs(wire.ServerDevice, s), profile: p.profileFor()}
	if list, ok := s[setting.ServerCPUs]; ok {
		cpus, err := cores.Parse(list.String())
		if err != nil {
			panic(err) // the experiment was checked
		}
		l.Split.Server = cpus
	}
	// By default one worker on each of the server's cores.
	l.at = experiment.Place{Host: link.Host(), Port: strconv.Itoa(port), CPUs: cores.Format(l.Split.Server),
		Workers: strconv.Itoa(s.Whole(setting.Workers, max(len(l.Split.Server), 1)))}
	if l.profile > 0 {
		l.at.Sockets = l.pprof()
	}
	l.server, l.client = l.serverLine(), l.clientLine()
	return l
}

// addr is where the server listens.
func (l load) addr() string { return l.at.Host + ":" + l.at.Port }

// workers is how many of them the server has; 1 without prefork.
func (l load) workers() int { return max(l.asked.Workers, 1) }

// warmup and counts are the times for which a server is loaded before the slots, and in them.
func (l load) warmup() time.Duration { return seconds(l.Experiment.Block.WarmupS) }
func (l load) counts() time.Duration {
	return time.Duration(l.Experiment.Block.Rounds) * seconds(l.Experiment.Block.SlotS)
}

// serverLine is the server's command line. What is not started by the script itself is started through it.
func (l load) serverLine() []string {
	s := l.levels
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

// offered leaves out what a producer of events is not told: no rate, where its receiver searches for
// the limit and sets the rate itself, and no attempts, where not the library's variant runs, which
// alone retries a batch.
func offered(s setting.Levels) setting.Levels {
	if searches(s) {
		s = s.Without(setting.EventRate)
	}
	if s[setting.Variant] != setting.String(setting.Library) {
		s = s.Without(setting.Attempts)
	}
	return s
}

// searches reports whether the receiver searches for the limit, since no rate is set.
func searches(s setting.Levels) bool { return s[setting.EventRate] == setting.Int(0) }

// clientLine is the command line that a reader would type for this condition alone.
func (l load) clientLine() []string {
	times := []string{"--duration", number(l.counts().Seconds()), "--warmup", number(l.warmup().Seconds())}
	var argv []string
	given := func(name, flag string) {
		if v, ok := l.levels[name]; ok {
			argv = append(argv, flag, v.String())
		}
	}
	switch {
	case l.serves.Events: // the sink, which receives the batches
		argv = append([]string{scriptPath("sink.sh"), "--producer", l.addr()}, times...)
		given(setting.SinkLatencyMs, "--latency-ms")
		given(setting.SinkErrors, "--errors-permille")
		if searches(l.levels) {
			argv = append(argv, "--find-limit")
		}
	case l.serves.Streams: // the readers of event streams, which give likes besides
		argv = append([]string{scriptPath("readers.sh"), "--url", "http://" + l.addr()}, times...)
		given(setting.Connections, "--connections")
		given(setting.Likes, "--likes")
		given(setting.Writers, "--writers")
	default:
		argv = append([]string{scriptPath("trial.sh"), "--url", l.target().URL, "--generator", l.asked.Generator,
			"--connections", strconv.Itoa(l.asked.Connections), "--pipelining", strconv.Itoa(l.asked.Pipelining)}, times...)
		argv = append(argv, "--workers", strconv.Itoa(l.threads()))
		if l.asked.Rate > 0 {
			argv = append(argv, "--rate", number(l.asked.Rate))
		}
	}
	if len(l.Split.Client) > 0 {
		argv = append(argv, "--cpus", cores.Format(l.Split.Client))
	}
	return argv
}

// threads is how many the client has; 0: one a core.
func (l load) threads() int { return l.levels.Whole(setting.ClientWorkers, 0) }

// How long a client may take beyond its load: a receiver that searches for the limit tries up to
// eight rates for a whole window, each after the producer has recovered.
const (
	grace       = 15 * time.Second
	searchGrace = 90 * time.Second
)

// number formats without an exponent: scripts do not accept 1e+06.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// target describes the condition to the lab's own generator. The slash before the route keeps any path on
// this server.
func (l load) target() httpload.Target {
	t := httpload.Target{Name: l.addr(), URL: "http://" + l.addr() + "/", Connections: l.asked.Connections,
		Pipelining: l.asked.Pipelining, Rate: l.asked.Rate, Answers: l.serves.Answers}
	if l.serves.Routed() {
		t.URL += strings.TrimPrefix(l.levels[setting.Route].String(), "/")
	}
	return t
}

// subject is the condition's server.
func (l load) subject() measure.Subject {
	return &measure.Command{Label: l.name(), Argv: l.server, Dir: l.dir, At: l.addr(), Process: l.serves.Process,
		Line: l.serves.ReadyLine(l.at), Lines: l.workers(), Within: readyWithin, Self: l.Lab, Link: l.link}
}

// readyWithin bounds the wait for a server, even on a machine whose cores are busy with many workers
// starting at once.
const readyWithin = 20 * time.Second

// piece is the condition's client, if it cannot take turns.
func (l load) piece() measure.Piece {
	p := measure.Piece{Grace: grace, Warmup: l.warmup(),
		Parse: func(printed []byte) (*measure.Result, error) { return generator.Parse(l.asked.Generator, printed) },
		Lasting: func(counts time.Duration) []string {
			argv := slices.Clone(l.client)
			argv[slices.Index(argv, "--duration")+1] = number(counts.Seconds())
			return argv
		}}
	if searches(l.levels) {
		p.Grace = searchGrace
	}
	if l.serves.Routed() {
		p.Check = l.check
	}
	return p
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

// name identifies the condition in messages.
func (l load) name() string { return fmt.Sprintf("%s on %s", l.calls(), l.addr()) }

// calls is the server's name in messages: that of its processes, if it is known.
func (l load) calls() string { return cmp.Or(l.serves.Process, l.serves.Name) }
