package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
	"github.com/line-rate/line-rate/lab/load"
)

// A carried load is one that this host carries out.
type carried struct {
	Load
	agent  *agent
	id     int64
	client int
	ahead  int64              // ns by which the wall clock is ahead of CLOCK_MONOTONIC
	ending chan time.Duration // has the grace with which the load is to end
	over   chan struct{}      // closed when nothing of it is left

	mu    sync.Mutex
	input *os.File // the generator's; nil before it starts
	wrong error    // a line that is not the generator's
}

// mostGrace bounds how long another host may ask to wait.
const mostGrace = 10 * time.Second

// stop has the load end, and kills it after the grace; the first call counts.
func (l *carried) stop(grace time.Duration) {
	select {
	case l.ending <- grace:
	default:
	}
}

// release lets a generator end that is held.
func (l *carried) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.input != nil {
		_, _ = io.WriteString(l.input, "end\n")
	}
}

// mostLoad limits how long a load may take, whatever limit came with it.
const mostLoad = 2 * time.Hour

// carryOut runs the load to its end.
func (l *carried) carryOut() (seen Seen, err error) {
	seen = Seen{Metrics: map[string]float64{}, Cores: map[int]float64{}, RxBytes: -1, TxBytes: -1}
	a := l.agent
	now, _ := clock()
	l.ahead = Ahead(now)
	argv, input, err := l.command()
	if err != nil {
		return seen, Refused{Why: err.Error()}
	}
	limit := min(time.Duration(l.LimitNS), mostLoad)
	if limit <= 0 {
		return seen, Refused{Why: "a load without a limit of its time"}
	}
	timeout := time.After(limit)
	in, w, err := os.Pipe()
	if err != nil {
		return seen, err
	}
	defer in.Close()
	l.mu.Lock()
	l.input = w
	l.mu.Unlock()
	defer w.Close()
	out := &lines{most: mostLine, each: l.line}
	began := time.Now()
	proc, err := leash.Start(leash.Spec{Dir: a.Root, Argv: argv, Stdin: in, Stdout: out})
	if err != nil {
		return seen, Refused{Why: l.hide(err.Error())}
	}
	defer func() { _ = proc.Stop(proc.Pid(), 0) }()
	pid := proc.Pid()
	sampler, err := telemetry.Start(telemetry.Targets{Pairs: []telemetry.Pair{{Client: func() int { return pid }}},
		ClientCPUs: l.cpus(), NetDevice: a.hello.Device, Window: l.window()})
	if err != nil {
		return seen, err
	}
	defer sampler.Stop()
	a.conn.send(frame{Kind: kindStarted, ID: l.id, Client: l.client})
	// Written beside the rest: a generator that reads none of it must still end.
	go func() { _, _ = w.Write(input) }()
	first, last := int64(0), int64(0)
	if l.ToNS > l.FromNS && l.FromNS > 0 {
		first, last = l.FromNS-l.ahead, l.ToNS-l.ahead
	}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	var passing sync.WaitGroup
	passing.Go(func() { seen.RxBytes, seen.TxBytes = traffic(ctx, a.hello.Device, first, last) })
	ended := error(nil)
	select {
	case <-proc.Done():
	case grace := <-l.ending:
		_ = proc.Stop(pid, grace)
		ended = errStopped
	case <-timeout:
		_ = proc.Stop(pid, 0)
		ended = fmt.Errorf("it had not ended %v after its start", limit.Round(time.Second/10))
	}
	sampler.Stop()
	l.look(&seen, sampler, began)
	end()
	passing.Wait()
	l.mu.Lock()
	if l.wrong != nil {
		ended = l.wrong
	}
	l.mu.Unlock()
	if ended != nil {
		return seen, ended
	}
	return seen, l.judge(proc)
}

var errStopped = errors.New("it was stopped")

// judge says how a load that has ended by itself failed.
func (l *carried) judge(proc *leash.Proc) error {
	err := proc.Err()
	if err == nil {
		return nil
	}
	why := l.hide(proc.LastLine())
	switch code := proc.ExitCode(); {
	case why == "":
		return err
	case code == 2 || code == 126 || code == 127, code == 3 && strings.HasPrefix(why, "trial.sh: "):
		// The script's own refusals, and a shell's: the next load would meet them too.
		return Refused{Why: why}
	}
	return fmt.Errorf("%v: %s", err, why)
}

// hide leaves out this host's directories, which no results file may have.
func (l *carried) hide(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, l.agent.Root+"/", ""), l.agent.Root, ".")
}

// cpus are those that the load is pinned to.
func (l *carried) cpus() []int {
	if len(l.CPUs) > 0 {
		return l.CPUs
	}
	return l.agent.hello.CPUs
}

// command is the load's command line, and what is written to its input.
func (l *carried) command() (argv []string, input []byte, err error) {
	for _, c := range l.CPUs {
		if c < 0 || c > cores.Most {
			return nil, nil, fmt.Errorf("no CPU %d", c)
		}
	}
	if l.Plan == nil {
		return nil, nil, errors.New("a load without a plan")
	}
	p := *l.Plan
	p.Slots = append([]load.Slot(nil), p.Slots...)
	for i := range p.Slots {
		if p.Slots[i].AtNS != 0 {
			p.Slots[i].AtNS -= l.ahead
		}
	}
	if err := p.Check(); err != nil {
		return nil, nil, fmt.Errorf("the plan: %w", err)
	}
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		return nil, nil, err
	}
	return []string{trialScript, "--generator", "http_load", "--plan", "-", "--cpus", cores.Format(l.cpus())},
		text.Bytes(), nil
}

// mostLine limits a line of a generator's output.
const mostLine = mostFrame / 2

// line passes on a line that the load printed. A slot's time becomes one of the
// wall clock, which the other hosts can relate to theirs.
func (l *carried) line(text []byte) error {
	one, err := load.ParseLine(text)
	if err == nil && one.Slot != nil && one.Slot.AtNS != 0 {
		one.Slot.AtNS += l.ahead
		var again bytes.Buffer
		if err = one.Write(&again); err == nil {
			text = bytes.TrimSuffix(again.Bytes(), []byte("\n"))
		}
	}
	if err != nil {
		l.mu.Lock()
		l.wrong = fmt.Errorf("http_load's output: %w", err)
		l.mu.Unlock()
		l.stop(0)
		return err
	}
	l.agent.conn.send(frame{Kind: kindLine, ID: l.id, Client: l.client, Text: string(text)})
	return nil
}

// counted is when the first counted slot of the plan begins and the last ends, by
// CLOCK_MONOTONIC; both are 0 without such times.
func (l *carried) counted() (first, last int64) {
	if first, last = l.Plan.Counted(); last > 0 {
		first, last = first-l.ahead, last-l.ahead
	}
	return first, last
}

// window is about how long the load will be sampled.
func (l *carried) window() time.Duration {
	if first, last := l.counted(); last > 0 {
		return time.Duration(last - first)
	}
	return time.Duration(l.LimitNS) / 2
}

// look fills in what the samples show. They are those of the time from the first
// load to the last; of a plan so short that none fall into it, of the whole.
func (l *carried) look(seen *Seen, s *telemetry.Sampler, began time.Time) {
	from, to := began, time.Now()
	if len(l.Plan.Slots) > 0 && l.Plan.Slots[0].AtNS != 0 {
		_, last := l.counted()
		mono := Monotonic()
		begin := to.Add(time.Duration(l.Plan.Slots[0].AtNS - l.ahead - mono))
		end := to.Add(time.Duration(last - mono))
		if begin.After(from) && end.After(begin) && end.Before(to) {
			from, to = begin, end
		}
	}
	// At one request a second the CPU time of a request is that of a second.
	const perSecond = "client_cpu_per_request_s"
	w := s.Between(0, from, to, 1)
	if len(w.Metrics) == 0 {
		w = s.Between(0, began, time.Now(), 1)
	}
	for name, v := range w.Metrics {
		if !math.IsNaN(v) && !math.IsInf(v, 0) && v >= 0 {
			seen.Metrics[name] = v
		}
	}
	seen.Own = seen.Metrics[perSecond]
	delete(seen.Metrics, perSecond)
	for _, c := range w.Cores {
		seen.Cores[c.CPU] = min(max(1-c.Idle, 0), 1)
	}
	seen.Stopped = len(w.Stopped) > 0
	seen.GapS = w.Gap.Seconds()
	if len(w.Others) > 0 {
		seen.Others = strict.Line(w.Others[0].Name, 30)
	}
}

// traffic is the bytes that an interface received and sent between two times of
// CLOCK_MONOTONIC; -1 if they cannot be read, or ctx ends before.
func traffic(ctx context.Context, device string, first, last int64) (rx, tx int64) {
	if last == 0 || !until(ctx, first) {
		return -1, -1
	}
	rx, tx = counters(device)
	if !until(ctx, last) {
		return -1, -1
	}
	rx2, tx2 := counters(device)
	if rx < 0 || rx2 < rx || tx2 < tx {
		return -1, -1
	}
	return rx2 - rx, tx2 - tx
}

// until waits for a time of CLOCK_MONOTONIC, and reports whether it came before ctx ended.
func until(ctx context.Context, at int64) bool {
	select {
	case <-time.After(time.Duration(at - Monotonic())):
		return true
	case <-ctx.Done():
		return false
	}
}
