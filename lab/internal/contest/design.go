package contest

import (
	"fmt"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/run"
)

// The rounds of a block: as many slots for each server. Seven blocks are the least that decide, so
// short ones tell a large difference soon. Long ones tell a small one sooner: a block's start and end
// take a second or two whatever it holds, and what differs between slots, as how often a garbage
// collector ran, averages out. So a block is as long as the budget allows.
const (
	leastRounds = 7
	mostRounds  = 100
	perBudget   = 30 // one part in so many of the budget is what all servers' slots of a block count
	leastCounts = 400 * time.Millisecond
	mostCounts  = 2 * time.Second
)

// rounds is how many slots of a length each of so many servers has in a block, and so has the control.
func rounds(slot, budget time.Duration, servers int) int {
	counts := min(max(budget/perBudget/time.Duration(servers+1), leastCounts), mostCounts)
	return min(max(int(counts/max(slot, 1)), leastRounds), mostRounds)
}

// The wire of --line-rate, as the journal's experiments have it: the queue holds
// all that is asked for at once.
const (
	burstBytes = 262_144
	queueS     = 0.4
)

// Design is the experiment that compares the servers, after a look at them. dir is
// where the commands start. Its conditions are the servers in their order. An
// experiment's routes are plainer than what may be asked here, so Path is given to
// the run beside it.
//
// What a server prints goes to the lab, for its error messages. A line for each
// request would keep the lab busy beside the server, so it goes nowhere then.
func (o Options) Design(dir string, slot time.Duration, looks []Look) (*experiment.Experiment, error) {
	margin, longest := o.Margin, o.Warmup
	for _, l := range looks {
		longest = max(longest, l.Warmup)
	}
	x := experiment.Experiment{
		Name: "compare", Entry: "compare", Title: "A comparison of servers",
		Metrics: []string{cost, throughput, p50, p99}, BudgetS: o.Budget.Seconds(),
		Topology: experiment.Topology{Kind: "loopback"},
		Settings: map[string]any{"route": "/", "generator": "http_load", "client_workers": 0},
		Block:    experiment.Block{SlotS: slot.Seconds(), Rounds: rounds(slot, o.Budget, len(o.Servers)), WarmupS: longest.Seconds()},
		Question: "Does one of these servers cost more than the first?",
		Claims: []experiment.Claim{{
			ID: "same-cost", Kind: experiment.Flat, Over: "server", Metric: cost, Margin: &margin,
			Text: "A request costs all of these servers the same CPU time.", Why: "The margin was given with the command.",
		}},
		Relative: &experiment.Relative{Metric: cost, Over: "server", To: serverID(0), OwnWork: true},
		Servers:  map[string]*experiment.Server{},
	}
	if o.LineRate > 0 {
		x.Topology = experiment.Topology{Kind: "netns", LineRateBps: o.LineRate, BurstBytes: burstBytes, QueueS: queueS}
	}
	if o.Rate > 0 {
		x.Settings["rate"] = o.Rate
	}
	x.Settings["connections"], x.Settings["pipelining"] = o.Connections, o.Pipelining
	all := experiment.Factor{Name: "server"}
	for i, s := range o.Servers {
		id := serverID(i)
		all.Levels = append(all.Levels, id)
		words := []string{"env", s.URL} // of a server that runs already; nothing is started
		if s.URL == "" {
			if s.Dir != "" {
				dir = s.Dir
			}
			words = append([]string{s.program(dir)}, s.Command[1:]...)
			if i < len(looks) && looks[i].Chatty() {
				words = append([]string{"sh", "-c", `exec "$@" >/dev/null 2>&1`, "sh"}, words...)
			}
		}
		x.Servers[id] = &experiment.Server{Title: s.Name, Command: Shell(words), Program: "env"}
	}
	x.Factors = []experiment.Factor{all}
	made, err := experiment.Make(x)
	if err != nil {
		return nil, fmt.Errorf("this cannot be measured: %w", err)
	}
	return made, nil
}

// serverID is a server's name in the design. Levels rise, so the servers stay in
// their order, whatever the caller calls them.
func serverID(i int) string { return fmt.Sprintf("compared-%02d", i+1) }

// Addresses are the servers that run already, by their names in the design; nil where the run
// starts them.
func (o Options) Addresses() map[string]run.Outside {
	if !o.Running() {
		return nil
	}
	at := map[string]run.Outside{}
	for i, s := range o.Servers {
		at[serverID(i)] = run.Outside{Addr: s.address()}
		if s.runs != nil {
			at[serverID(i)] = *s.runs
		}
	}
	return at
}

// Starts are where servers start and for how long each is warmed up, after a look at them.
func (o Options) Starts(looks []Look) map[string]run.Start {
	how := map[string]run.Start{}
	for i, s := range o.Servers {
		how[serverID(i)] = run.Start{Dir: s.Dir, Warmup: max(how[serverID(i)].Warmup, looks[i].Warmup)}
	}
	return how
}

// Named puts the servers' own names in place of those in the design.
func (o Options) Named(text string) string {
	var pairs []string
	for i, s := range o.Servers {
		pairs = append(pairs, serverID(i), s.Name)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
