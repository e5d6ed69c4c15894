package run

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/answer"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/wire"
	httpload "github.com/line-rate/line-rate/lab/load"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

// A load is one condition's server and client, with everything that follows from the condition's settings.
type load struct {
	Plan   // with the cores of this condition
	levels setting.Levels
	asked  gate.Asked // the base of faults
	serves *experiment.Server
	at     experiment.Place
}

// load gives the condition with these levels and a server that listens on port.
func (p Plan) load(levels setting.Levels, port int) load {
	x := p.Experiment
	s := x.Fixed().With(levels)
	l := load{Plan: p, levels: s, serves: x.Server(s),
		asked: results.Asked(x, s, len(p.Split.Server))}
	if list, ok := s[setting.ServerCPUs]; ok {
		l.Split.Server, _ = machine.Parse(list.String()) // the check refused it
	}
	// By default one worker on each of the server's cores.
	l.at = experiment.Place{Host: "127.0.0.1", Port: strconv.Itoa(port), CPUs: machine.Format(l.Split.Server),
		Workers: strconv.Itoa(s.Whole(setting.Workers, max(len(l.Split.Server), 1)))}
	switch {
	case p.onWire():
		l.at.Host = wire.ServerAddress
	case p.inFleet():
		l.at.Host = p.Fleet.Host()
	}
	if x.Profile != nil {
		l.at.Sockets = l.pprof()
	}
	return l
}

// addr is where the server listens.
func (l load) addr() string { return l.at.Host + ":" + l.at.Port }

// workers is how many of them the server has; 1 without prefork.
func (l load) workers() int { return max(l.asked.Workers, 1) }

// threads is how many the client has; 0: one a core.
func (l load) threads() int { return l.levels.Whole(setting.ClientWorkers, 0) }

// server is the server's command line. The script starts every server, itself or through another
// command.
func (l load) server() []string {
	words, env := l.serves.Line(l.at, l.levels)
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

// client is the command line that a reader would type for this condition alone, with the time that counts.
func (l load) client(counts time.Duration) []string {
	argv := []string{"--duration", number(counts.Seconds()), "--warmup", number(l.Experiment.Block.WarmupS)}
	given := func(name, flag string) {
		if v, ok := l.levels[name]; ok {
			argv = append(argv, flag, v.String())
		}
	}
	script := ""
	switch {
	case l.serves.Events: // the sink, which receives the batches
		script = "sink.sh"
		argv = append(argv, "--producer", l.addr())
		given(setting.SinkLatencyMs, "--latency-ms")
	case l.serves.Streams: // the readers of event streams, which give likes besides
		script = "readers.sh"
		argv = append(argv, "--server", l.addr())
		given(setting.Connections, "--connections")
		given(setting.Likes, "--likes")
		given(setting.Writers, "--writers")
	default:
		script = "trial.sh"
		argv = append(argv, "--url", l.target().URL, "--generator", l.asked.Generator, "--connections",
			strconv.Itoa(l.asked.Connections), "--pipelining", strconv.Itoa(l.asked.Pipelining), "--workers", strconv.Itoa(l.threads()))
		given(setting.Rate, "--rate")
	}
	if len(l.Split.Client) > 0 {
		argv = append(argv, "--cpus", machine.Format(l.Split.Client))
	}
	return append([]string{scriptPath(script)}, argv...)
}

// number formats without an exponent: scripts do not accept 1e+06.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// target describes the condition to the lab's own generator. The slash before the route keeps any path on
// this server.
func (l load) target() httpload.Target {
	t := httpload.Target{Name: l.addr(), URL: "http://" + l.addr() + "/", Connections: l.asked.Connections,
		Pipelining: l.asked.Pipelining, Rate: l.asked.Rate, Answers: l.serves.Answers, Clients: l.levels.Whole(setting.Clients, 0)}
	if l.serves.Routed() {
		t.URL += strings.TrimPrefix(l.levels[setting.Route].String(), "/")
	}
	return t
}

// subject is the condition's server, in messages by the name of its processes if that is known. A machine whose cores
// are busy with many workers starting at once may take long.
func (l load) subject(link measure.Link) measure.Subject {
	return &measure.Command{Label: cmp.Or(l.serves.Process, l.serves.Name) + " on " + l.addr(), Argv: l.server(),
		Dir: string(l.Root), At: l.addr(), Process: l.serves.Process, Line: l.serves.ReadyLine(l.at), Lines: l.workers(),
		Within: 20 * time.Second, Self: l.Lab, Link: link}
}

// piece is the condition's client, if it cannot take turns.
func (l load) piece() measure.Piece {
	p := measure.Piece{Grace: 15 * time.Second, Warmup: seconds(l.Experiment.Block.WarmupS), Lasting: l.client,
		Parse: parsers[l.asked.Generator]}
	if l.serves.Routed() {
		p.Check = l.check
	}
	return p
}

// check asks the condition's server beside a client that checks no answers, and says what is wrong with some; nil if
// nothing is.
func (l load) check(ctx context.Context) error {
	t, route := l.target(), l.levels[setting.Route].String()
	set, err := answer.Of(t.Answers, route)
	if err != nil {
		return err
	}
	given, err := probe.Ask(ctx, t, 5*time.Second, 4)
	for _, g := range given {
		wrong := set.Fault(g.Body)
		switch {
		case g.Type != catalog.ContentType:
			wrong = fmt.Errorf("Content-Type %q, the route's is %q", g.Type, catalog.ContentType)
		case g.Encoding != set.Encoding:
			wrong = fmt.Errorf("Content-Encoding %q, the route's is %q", g.Encoding, set.Encoding)
		}
		if wrong != nil {
			return fmt.Errorf("its answer to GET %s is not as expected: %w", route, wrong)
		}
	}
	return err
}

// commands are the command lines that a reader would type. A side of a wire is the number that lab
// wire prints.
func (l load) commands() (lines []string) {
	typed := func(side string, argv []string) {
		line := strict.Shell(argv)
		if l.inFleet() { // whose address is nobody else's
			line = strings.ReplaceAll(line, l.at.Host, "SERVER")
		}
		if side != "" && l.onWire() {
			line = wire.Within(side, line)
		}
		lines = append(lines, line)
	}
	for _, k := range l.knobs(l.levels) {
		typed(k.side, k.line())
	}
	typed("server", l.server())
	typed("client", l.client(time.Duration(l.Experiment.Block.Rounds)*seconds(l.Experiment.Block.SlotS)))
	return lines
}
