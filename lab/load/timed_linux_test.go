package load

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program/programtest"
)

// A process is http_load, carrying out a plan.
type process struct {
	plan   *Plan
	cmd    *exec.Cmd
	stdout bytes.Buffer
	stderr bytes.Buffer
}

// launch starts http_load with a plan.
func launch(t *testing.T, p *Plan) *process {
	t.Helper()
	g := &process{plan: p, cmd: exec.Command(programtest.Path("http_load"), "--plan", "-")}
	var input bytes.Buffer
	if err := p.Write(&input); err != nil {
		t.Fatal(err)
	}
	g.cmd.Stdin, g.cmd.Stdout, g.cmd.Stderr = &input, &g.stdout, &g.stderr
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.cmd.Process.Kill() })
	return g
}

// report waits for its end.
func (g *process) report(t *testing.T) *Report {
	t.Helper()
	if err := g.cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, &g.stderr)
	}
	r, err := ReadReport(&g.stdout)
	if err == nil {
		err = r.Fits(g.plan)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tooLate is later than any edge of a slot that counts.
const tooLate = 80 * time.Millisecond

// timedPlan has slots of two targets in turn, the first from so long after now.
func timedPlan(in time.Duration, slots int, targets ...Target) *Plan {
	p := &Plan{Threads: 1, Raw: true, TimeoutS: 2, Targets: targets}
	at := newClock().now() + int64(in)
	for i := range slots {
		p.Slots = append(p.Slots, Slot{Target: i % len(targets), Seconds: 0.2, Counts: i > 0, AtNS: at, FillS: 0.08})
		at += int64(350 * time.Millisecond)
	}
	return p
}

// counted checks a slot that counted, and tells whether it did: a busy machine may be too
// late for any, and then the slot has to say so.
func counted(t *testing.T, p *Plan, s SlotReport) bool {
	t.Helper()
	planned := p.Slots[s.Slot]
	if s.Failed != "" {
		if s.Requests != 0 || s.Seconds != 0 || !strings.Contains(s.Failed, " s late") &&
			!strings.Contains(s.Failed, "no answer by its time") {
			t.Errorf("slot %d: %+v", s.Slot, s)
		}
		return false
	}
	if s.AtNS != planned.AtNS || s.Seconds != planned.Seconds || s.FillS <= 0 || s.LateS <= 0 ||
		s.LateS > tooLate.Seconds() {
		t.Errorf("slot %d, planned %+v: %+v", s.Slot, planned, s)
	}
	return true
}

// Generators that have the same times go round the slots together, and one that starts
// late misses those that have passed and no others.
func TestGeneratorsWithTheSameTimes(t *testing.T) {
	fiber, _ := start(t, "fiber_server", "--prefork=false")
	null, _ := start(t, "null_server")
	read := Target{Name: "read", URL: "http://" + fiber + "/read", Connections: 4, Pipelining: 2, Answers: "fiber"}
	paced := Target{Name: "simple", URL: "http://" + null + "/simple", Connections: 4, Pipelining: 1, Rate: 500,
		Answers: "null"}
	p := timedPlan(700*time.Millisecond, 8, read, paced)
	two := *p
	two.Threads = 2
	first, second, late := launch(t, p), launch(t, &two), launch(t, p)
	// Stopped before it can have begun, and let go on when four slots have passed.
	_ = late.cmd.Process.Signal(syscall.SIGSTOP)
	stopped := newClock().now()
	until := p.Slots[3].AtNS + NS(p.Slots[3].Seconds)
	time.Sleep(time.Duration(until - newClock().now()))
	_ = late.cmd.Process.Signal(syscall.SIGCONT)

	var parts []Part
	came := 0
	for i, g := range []*process{first, second, late} {
		r := g.report(t)
		part := Part{Name: fmt.Sprintf("client %d", i+1), Report: r, Targets: []int{0, 1}}
		for _, s := range r.Slots {
			part.Slots = append(part.Slots, s.Slot)
			ok := counted(t, p, s)
			switch passed := g == late && s.Slot < 4 && p.Slots[s.Slot].AtNS-NS(p.Slots[s.Slot].FillS) > stopped; {
			case ok && (passed || s.Requests == 0):
				t.Errorf("client %d: %+v", i+1, s)
			case ok:
				came++
			case passed && (!strings.HasPrefix(s.Failed, "began ") || s.LateS <= 0 || s.FillS != 0):
				t.Errorf("client %d loaded a target whose time had passed: %+v", i+1, s)
			}
		}
		for _, sum := range r.Summary.Targets {
			clean(t, sum)
		}
		// In a closed loop each answer of the counted time has one latency, if no slot
		// failed at its end.
		if sum := r.Summary.Targets[0]; i < 2 && sum.Histogram.n != sum.Requests &&
			!strings.Contains(fmt.Sprint(r.Slots), "ended ") {
			t.Errorf("client %d: %d latencies of %d answers", i+1, sum.Histogram.n, sum.Requests)
		}
		parts = append(parts, part)
	}
	if came == 0 {
		t.Fatal("no slot counted")
	}
	r, err := Merge(p, parts, time.Millisecond)
	if err == nil {
		err = r.Fits(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range r.Slots {
		if parts[2].Report.Slots[i].Failed != "" && !strings.HasPrefix(s.Failed, "client ") {
			t.Errorf("%+v", s)
		}
		sum := int64(0)
		for _, part := range parts {
			sum += part.Report.Slots[i].Requests
		}
		if s.Failed == "" && (s.AtNS != p.Slots[i].AtNS || s.Requests != sum) {
			t.Errorf("%+v, and the clients had %d requests", s, sum)
		}
	}
}

// A generator that is stopped misses what it cannot have counted: a slot that began or
// ended in the meantime. It counts again from the next one on.
func TestAGeneratorThatIsStopped(t *testing.T) {
	s := serve(t, polite)
	p := timedPlan(500*time.Millisecond, 8, s.target(3, 1))
	g := launch(t, p)
	from, until := p.Slots[2].AtNS+NS(0.1), p.Slots[4].AtNS+NS(0.1)
	time.Sleep(time.Duration(from - newClock().now()))
	_ = g.cmd.Process.Signal(syscall.SIGSTOP)
	stopped := newClock().now()
	time.Sleep(time.Duration(until - newClock().now()))
	_ = g.cmd.Process.Signal(syscall.SIGCONT)
	r := g.report(t)
	came := 0
	for i, one := range r.Slots {
		begin, end := p.Slots[i].AtNS, p.Slots[i].AtNS+NS(p.Slots[i].Seconds)
		ok := counted(t, p, one)
		if hit := begin >= stopped && begin <= until-int64(tooLate) || end >= stopped && end <= until-int64(tooLate); ok &&
			hit {
			t.Errorf("it was stopped in slot %d: %+v", i, one)
		}
		if ok {
			came++
		}
	}
	if came == 0 || r.Slots[3].Failed == "" {
		t.Errorf("%+v", r.Slots)
	}
}

// A connection without an answer by the slot's time fails the slot, and the target has
// another chance in the next one.
func TestAConnectionWithoutAnAnswerByItsTime(t *testing.T) {
	hold := make(chan struct{})
	s := serve(t, func(n int64, c net.Conn) bool {
		if n == 1 {
			<-hold
		}
		return say(c, hello)
	})
	p := timedPlan(300*time.Millisecond, 4, s.target(3, 1))
	go func() {
		time.Sleep(time.Duration(p.Slots[0].AtNS - newClock().now() + int64(100*time.Millisecond)))
		close(hold)
	}()
	r := carry(t, p)
	came := 0
	for _, one := range r.Slots {
		if counted(t, p, one) {
			came++
		}
	}
	if first := r.Slots[0].Failed; came == 0 || first != "1 of 3 connections had no answer by its time" &&
		!strings.Contains(first, "late") {
		t.Errorf("%+v", r.Slots)
	}
	clean(t, r.Summary.Targets[0])
}

// What a target that stalls takes from others is the slots that passed meanwhile. Then it
// is given up, as without times.
func TestATargetThatStallsAtItsTime(t *testing.T) {
	s, hang := serve(t, polite), make(chan struct{})
	stalls := serve(t, func(n int64, c net.Conn) bool {
		<-hang
		return false
	})
	t.Cleanup(func() { close(hang) })
	p := timedPlan(300*time.Millisecond, 6, stalls.target(2, 1), s.target(2, 1))
	p.TimeoutS = 0.6
	r := carry(t, p)
	came := 0
	for i, one := range r.Slots {
		switch ok := one.Failed == ""; {
		case i == 0 && one.Failed != "2 of 2 connections had no answer by its time" && !strings.Contains(one.Failed, "late"),
			i > 0 && i%2 == 0 && !strings.HasPrefix(one.Failed, "passed over: ") && !strings.Contains(one.Failed, "late") &&
				!strings.Contains(one.Failed, "had no answer"),
			i == 1 && !strings.HasPrefix(one.Failed, "began "):
			t.Errorf("%+v", one)
		case ok:
			came++
		}
	}
	if came == 0 {
		t.Errorf("%+v", r.Slots)
	}
}

// A plan by another clock would wait for years.
func TestATimeThatIsTooFar(t *testing.T) {
	s := serve(t, polite)
	p := timedPlan(0, 1, s.target(1, 1))
	p.Slots[0].AtNS = time.Now().UnixNano()
	if _, err := Run(context.Background(), p, Options{}); err == nil || !strings.Contains(err.Error(), "CLOCK_MONOTONIC") {
		t.Error(err)
	}
}
