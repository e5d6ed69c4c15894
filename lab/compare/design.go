package compare

import (
	"fmt"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/line-rate/line-rate/lab/internal/experiment"
)

// The rounds of a block: as many slots for each server. Few short blocks are
// decided sooner than long ones where the difference is large, since seven are
// the least; more rounds make each block's ratio steadier.
const rounds = 7

// The wire of --line-rate, as the journal's experiments have it: the queue holds
// all that is asked for at once.
const (
	burstBytes = 262_144
	queueS     = 0.4
)

// A design is an experiment as its file would have it.
type design struct {
	Entry    string            `toml:"entry"`
	Title    string            `toml:"title"`
	Question string            `toml:"question"`
	Metrics  []string          `toml:"metrics"`
	BudgetS  float64           `toml:"budget_s"`
	Topology map[string]any    `toml:"topology"`
	Settings map[string]any    `toml:"settings"`
	Factors  []factor          `toml:"factors"`
	Block    map[string]any    `toml:"block"`
	Claims   []map[string]any  `toml:"claims"`
	Servers  map[string]server `toml:"servers"`
	Relative map[string]any    `toml:"relative"`
}

type factor struct {
	Name   string   `toml:"name"`
	Levels []string `toml:"levels"`
}

type server struct {
	Title   string `toml:"title"`
	Command string `toml:"command"`
	Program string `toml:"program"`
}

// Design is the experiment that compares the servers, after a look at them. dir is
// where the commands start. Its conditions are the servers in their order. An
// experiment's routes are plainer than what may be asked here, so Path is given to
// the run beside it.
//
// What a server prints goes to the lab, for its error messages. A line for each
// request would keep the lab busy beside the server, so it goes nowhere then.
func (o Options) Design(dir string, slot time.Duration, looks []Look) (*experiment.Experiment, error) {
	d := design{
		Entry: "compare", Title: "A comparison of servers", Question: "Does one of these servers cost more than the first?",
		Metrics: []string{cost, throughput, p50, p99}, BudgetS: o.Budget.Seconds(),
		Topology: map[string]any{"kind": "loopback"},
		Settings: map[string]any{"route": "/", "generator": "http_load", "connections": o.Connections, "pipelining": o.Pipelining, "client_workers": 0},
		Block:    map[string]any{"slot_s": slot.Seconds(), "rounds": rounds, "warmup_s": o.Warmup.Seconds()},
		Claims: []map[string]any{{
			"id": "same-cost", "kind": "flat", "over": "server", "metric": cost, "margin": o.Margin,
			"text": "A request costs all of these servers the same CPU time.", "why": "The margin was given with the command.",
		}},
		Servers:  map[string]server{},
		Relative: map[string]any{"metric": cost, "over": "server", "to": serverID(0), "own_work": true},
	}
	if o.LineRate > 0 {
		d.Topology = map[string]any{"kind": "netns", "line_rate_bps": o.LineRate, "burst_bytes": burstBytes, "queue_s": queueS}
	}
	if o.Rate > 0 {
		d.Settings["rate"] = o.Rate
	}
	levels := factor{Name: "server"}
	for i, s := range o.Servers {
		id := serverID(i)
		levels.Levels = append(levels.Levels, id)
		words := []string{"env", s.URL} // of a server that runs already; nothing is started
		if s.URL == "" {
			words = append([]string{"env", "--chdir", dir, s.program(dir)}, s.Command[1:]...)
			if i < len(looks) && looks[i].Chatty() {
				words = append([]string{"sh", "-c", `exec "$@" >/dev/null 2>&1`, "sh"}, words...)
			}
		}
		d.Servers[id] = server{Title: s.Name, Command: quote(words), Program: words[0]}
	}
	d.Factors = []factor{levels}
	text, err := toml.Marshal(d)
	if err != nil {
		return nil, err
	}
	x, err := experiment.Parse("compare", text)
	if err != nil {
		return nil, fmt.Errorf("this cannot be measured: %w", err)
	}
	return x, nil
}

// serverID is a server's name in the design. Levels rise, so the servers stay in
// their order, whatever the caller calls them.
func serverID(i int) string { return fmt.Sprintf("compared-%02d", i+1) }

// Named puts the servers' own names in place of those in the design.
func (o Options) Named(text string) string {
	var pairs []string
	for i, s := range o.Servers {
		pairs = append(pairs, serverID(i), s.Name)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// quote writes words so that they can be split again.
func quote(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = "'" + strings.ReplaceAll(w, "'", `'"'"'`) + "'"
	}
	return strings.Join(out, " ")
}
