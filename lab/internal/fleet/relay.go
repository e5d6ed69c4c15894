package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/load"
)

// late is how long a host may be without an answer, or later than the first of the others.
const late = 2 * time.Second

// A relay has a client on each host, and a plan of which each has a part.
type relay struct {
	ctx     context.Context
	plan    load.Plan
	device  string // of the servers
	hosts   int
	number  int // of the next slot
	clients []*client
}

// A client is the program on a host.
type client struct {
	Host
	*proc.Talk
	nth   int    // among the hosts
	label string // by which results call it, since they name no machine
	part  []int  // its number of each target of the plan; below 0: it has no connection to it
}

// carry relays what an engine asks, until that closes the input: see load.Serve.
func carry(ctx context.Context, device string, hosts []string, in io.Reader, out io.Writer) error {
	r := &relay{ctx: ctx, device: device, hosts: len(hosts)}
	input, output := json.NewDecoder(in), json.NewEncoder(out)
	if err := input.Decode(&r.plan); err != nil {
		return fmt.Errorf("the plan: %w", err)
	}
	defer func() {
		for _, c := range r.clients {
			c.End()
		}
	}()
	if err := r.start(hosts); err != nil {
		return err
	}
	for {
		var s load.Slot
		if input.Decode(&s) != nil {
			sum, err := r.close()
			if err == nil {
				err = output.Encode(sum)
			}
			return err
		}
		report, err := r.turn(s)
		if err != nil {
			return err
		}
		if err := output.Encode(report); err != nil {
			return err
		}
	}
}

// start starts all clients, each with its part of the plan.
func (r *relay) start(hosts []string) error {
	for i, host := range hosts {
		c := &client{nth: i}
		c.Name, c.Path, _ = strings.Cut(host, "=")
		c.label = fmt.Sprintf("client %d", i+1)
		plan := r.plan
		plan.Seed, plan.Targets = r.plan.Seed+uint64(i), nil
		for _, t := range r.plan.Targets {
			at := -1
			if t, some := share(t, i, len(hosts)); some {
				at, plan.Targets = len(plan.Targets), append(plan.Targets, t)
			}
			c.part = append(c.part, at)
		}
		if len(plan.Targets) == 0 {
			continue
		}
		var err error
		if c.Talk, err = c.Host.start(clientCall); err != nil {
			return fmt.Errorf("ssh did not start: %w", err)
		}
		r.clients = append(r.clients, c)
		_ = c.Tell(plan)
	}
	// Each says that its connections are open, however long it took to log in.
	_, err := r.each(r.clients, time.Now().Add(within-leeway))
	return err
}

// share is the part of a target's load that one of the hosts has.
func share(t load.Target, nth, hosts int) (load.Target, bool) {
	n := min(cmp.Or(t.Clients, hosts), hosts, t.Connections)
	if nth >= n {
		return t, false
	}
	all := t.Connections
	t.Connections, t.Clients = all/n, 0
	if nth < all%n {
		t.Connections++
	}
	t.Rate = t.Rate * float64(t.Connections) / float64(all)
	return t, true
}

// why is why without what ssh said, which may have names and addresses.
func (c *client) why(err error) error {
	err = why(c.label, c.Talk.Proc, err)
	if strings.HasPrefix(err.Error(), c.label+": ssh: ") {
		return fmt.Errorf("%s was killed, or its connection was lost", c.label)
	}
	return err
}

// A reply is what a client said.
type reply struct {
	*client
	word
	heard       time.Time
	connections int
}

// leeway is by how much a client's limit is shorter than the engine's own, so that the fault names it.
const leeway = 3 * time.Second

// each waits for what some clients say next, side by side.
func (r *relay) each(cs []*client, until time.Time) ([]reply, error) {
	all, errs := make([]reply, len(cs)), make([]error, len(cs))
	var wait sync.WaitGroup
	for i, c := range cs {
		wait.Go(func() {
			all[i].client = c
			errs[i] = c.Hear(r.ctx, time.Until(until), &all[i].word)
			all[i].heard = time.Now()
		})
	}
	wait.Wait()
	for i, err := range errs {
		if err != nil {
			return nil, cs[i].why(err)
		}
	}
	return all, nil
}

// hear does so in step: of slots that did not fail, none may end long after another.
func (r *relay) hear(cs []*client, until time.Time) ([]reply, error) {
	all, err := r.each(cs, until)
	var first, last reply
	for _, a := range all {
		if a.Slot != nil && a.Slot.Failed != "" {
			continue
		}
		if first.client == nil || a.heard.Before(first.heard) {
			first = a
		}
		if a.heard.After(last.heard) {
			last = a
		}
	}
	if by := last.heard.Sub(first.heard); by > late {
		return nil, fmt.Errorf("%s answered %s later than %s", last.label, words.Time(by.Seconds()), first.label)
	}
	return all, err
}

// turn has the clients that load a target carry out a slot in step. A client that has ended misses
// the message, and then its answer is missing.
func (r *relay) turn(s load.Slot) (out load.SlotReport, err error) {
	var in, full []*client
	for _, c := range r.clients {
		its := s
		if its.Target = c.part[s.Target]; its.Target >= 0 {
			in = append(in, c)
		}
		_ = c.Tell(its)
	}
	sent := counter(r.device, "tx_bytes")
	until := time.Now().Add(2*r.plan.Timeout() + within - leeway + time.Duration(s.Seconds*float64(time.Second)))
	all, err := r.hear(in, until)
	if err != nil {
		return out, err
	}
	var done []reply
	for _, a := range all {
		if a.Full {
			full = append(full, a.client)
		} else {
			done = append(done, a)
		}
	}
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // which every Linux has
	for _, c := range full {
		_ = c.Tell(struct{}{})
	}
	counted, err := r.hear(full, until)
	if err != nil {
		return out, err
	}
	done = append(done, counted...)
	sent = counter(r.device, "tx_bytes") - sent
	if err := r.check(done, sent, s); err != nil {
		return out, err
	}
	out = sum(done)
	if link := speed(r.device); out.Failed == "" && link > 0 {
		out.Elsewhere["line_rate_share"] = max(out.Elsewhere["line_rate_share"], 8*float64(sent)/out.Turn.Seconds/link)
	}
	out.Slot, out.Target, out.AtNS = r.number, s.Target, now.Nano()
	r.number++
	return out, nil
}

// check refuses what cannot be.
func (r *relay) check(all []reply, sent int64, s load.Slot) error {
	var names []string
	received := int64(0)
	for i, a := range all {
		if a.Slot == nil || a.Machine == nil {
			return fmt.Errorf("%s says nothing of its slot", a.label)
		}
		names, received = append(names, a.label), received+a.Slot.Bytes
		asked, _ := share(r.plan.Targets[s.Target], a.nth, r.hosts)
		all[i].connections = asked.Connections
		most := asked.Rate*a.Slot.Turn.Seconds + float64(2*asked.Connections*asked.Pipelining)
		switch t := a.Slot.Turn; {
		case a.Slot.Failed == "" && (a.Slot.Requests < 0 || a.Slot.Requests > t.Requests || a.Slot.Bytes < a.Slot.Requests ||
			a.Slot.Seconds < 0.9*s.Seconds && s.Requests == 0 || a.Slot.Seconds > t.Seconds):
			return fmt.Errorf("%s says of its slot what cannot be: %d of %d answers in %v of %v s", a.label, a.Slot.Requests, t.Requests,
				a.Slot.Seconds, t.Seconds)
		case a.Machine.Program != program():
			return fmt.Errorf("%s runs another program than this one; remove what is in ~/.cache/line-rate there", a.label)
		case a.Slot.SilenceS > late.Seconds() && a.Slot.SilenceS > s.Seconds/2:
			return fmt.Errorf("%s had no answer for %s, as if it had been stopped or cut off", a.label, words.Time(a.Slot.SilenceS))
		case asked.Rate > 0 && float64(a.Slot.Turn.Requests) > most:
			return fmt.Errorf("%s counts %d answers, and was to ask for at most %.0f", a.label, a.Slot.Turn.Requests, most)
		case a.Machine.RxBytes > 0 && a.Slot.Bytes > a.Machine.RxBytes:
			return fmt.Errorf("%s counts %s of answers, and its interface received %s", a.label, words.Size(int(a.Slot.Bytes)),
				words.Size(int(a.Machine.RxBytes)))
		}
	}
	if sent > 0 && received > sent {
		return fmt.Errorf("%s: they count %s of answers, and %s of this machine sent %s", strings.Join(names, " and "),
			words.Size(int(received)), r.device, words.Size(int(sent)))
	}
	return nil
}

// sum is what all clients did in a slot. Each has its own window, so rates are added up.
func sum(all []reply) (out load.SlotReport) {
	rate, longest := 0.0, 0.0
	for _, a := range all {
		r := a.Slot
		if r.Failed != "" {
			out.Failed = a.label + ": " + r.Failed
		}
		out.Requests, out.Bytes, out.ClientCPUS = out.Requests+r.Requests, out.Bytes+r.Bytes, out.ClientCPUS+r.ClientCPUS
		out.Turn.Requests, out.Turn.Seconds = out.Turn.Requests+r.Turn.Requests, max(out.Turn.Seconds, r.Turn.Seconds)
		out.FillS, out.SilenceS, longest = max(out.FillS, r.FillS), max(out.SilenceS, r.SilenceS), max(longest, r.Seconds)
		if r.Seconds > 0 {
			rate += float64(r.Requests) / r.Seconds
			out.BusiestThreadS = max(out.BusiestThreadS, r.BusiestThreadS/r.Seconds)
		}
	}
	if out.Failed != "" {
		return load.SlotReport{Failed: out.Failed, FillS: out.FillS, Turn: out.Turn}
	}
	if out.Seconds = longest; rate > 0 {
		out.Seconds = float64(out.Requests) / rate
	}
	out.BusiestThreadS *= out.Seconds
	out.Elsewhere, out.Notes = elsewhere(all)
	return out
}

// disturbing is what others may use of a client's machine, in cores, before a note says so.
const disturbing = 0.1

// elsewhere has the figures of the clients' machines, of which the busiest counts, and notes the clients that others
// disturbed, or that were far slower than the quickest.
func elsewhere(all []reply) (figures map[string]float64, notes []string) {
	figures = map[string]float64{}
	pace := func(a reply) float64 {
		return float64(a.Slot.Requests) / max(a.Slot.Seconds, 1e-9) / float64(a.connections)
	}
	quickest := pace(slices.MaxFunc(all, func(a, b reply) int { return cmp.Compare(pace(a), pace(b)) }))
	for _, a := range all {
		m := a.Machine
		if m.AtS <= 0 || m.Cores == 0 {
			continue
		}
		others := max(0, m.BusyS-m.NetS-m.OwnS) / m.AtS
		figures["client_cores_busy"] = max(figures["client_cores_busy"], m.BusyS/m.AtS/float64(m.Cores))
		figures["client_foreign_load"] = max(figures["client_foreign_load"], others)
		if m.LinkBps > 0 {
			figures["line_rate_share"] = max(figures["line_rate_share"], 8*float64(max(m.RxBytes, m.TxBytes))/m.AtS/m.LinkBps)
		}
		if others > disturbing {
			notes = append(notes, a.label+": other programs used its cores, so it may be the bottleneck")
		}
		if pace(a) < quickest/2 {
			notes = append(notes, a.label+": it was less than half as fast as another, connection for connection; look at its link")
		}
	}
	return figures, notes
}

// close ends all clients' loads, and adds up what they counted.
func (r *relay) close() (*load.Summary, error) {
	out := &load.Summary{Targets: make([]load.TargetSummary, len(r.plan.Targets))}
	for _, c := range r.clients {
		c.Close()
	}
	all, err := r.each(r.clients, time.Now().Add(within-leeway))
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		n := strict.Count(a.part, func(at int) bool { return at >= 0 })
		if a.Sum == nil || len(a.Sum.Targets) != n || len(a.Latencies) != n || len(a.Lags) != n {
			return nil, fmt.Errorf("%s does not say what came of its targets", a.label)
		}
		for i, at := range a.part {
			if at >= 0 {
				add(&out.Targets[i], a.Sum.Targets[at], a.Latencies[at], a.Lags[at])
			}
		}
	}
	return out, nil
}
