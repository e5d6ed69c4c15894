package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/line-rate/line-rate/lab/internal/calibration"
	"github.com/line-rate/line-rate/lab/internal/contest"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/session"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/load"
)

// plant measures what is planted, and prints how exactly it is known.
func (r run) plant(ctx context.Context, self string) (p calibration.Plant, err error) {
	split, _, err := session.Cores()
	if err != nil {
		return p, err
	}
	argv := []string{self, "plant", "--counting", r.Counting.String(), "--on", cores.Format(split.Server)}
	for _, share := range r.Shares {
		argv = append(argv, fmt.Sprintf("--shares=%g", share))
	}
	argv = append(pinned(cores.Format(split.Client)), argv...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &p)
	}
	if err != nil {
		return p, fmt.Errorf("measuring the plant: %w", err)
	}
	fmt.Printf("nothing planted: %s of CPU a request, over %s requests\n", words.Time(p.CPUPerRequest),
		words.Grouped(float64(p.Requests), 0))
	for _, s := range p.Shares {
		fmt.Printf("%s planted: %d steps, which are %s; counted beside it over %s requests: %s, %s a request\n",
			words.Percent(s.Share), s.Steps, s.Known.Percent(), words.Grouped(float64(s.Requests), 0), s.Counted.Percent(),
			words.Time(s.CPUPerRequest))
	}
	return p, nil
}

// pinned runs a command on CPUs; on a machine with one core, anywhere.
func pinned(cpus string) []string {
	if cpus == "" {
		return nil
	}
	return []string{"taskset", "-c", cpus}
}

// A planter loads servers with several costs in turns, and reads their CPU time. It shares the
// generator with what is calibrated, and none of its statistics.
type planter struct {
	Counting time.Duration `required:""`
	On       string        `required:"" help:"The servers' cores."`
	Shares   []float64     `required:""`
}

// doubled is a loop of about the cost of a request: a step is known by what it adds.
const doubled = 16_000

func (c planter) Run(ctx context.Context) error {
	loop, err := c.count(ctx, []int{0, doubled})
	if err != nil {
		return err
	}
	step := spanOf(loop.more[1], 1.0/doubled) // share of a request that one step costs
	p := calibration.Plant{}
	steps := []int{0}
	for _, percent := range c.Shares {
		n := int(math.Round(percent / 100 / step.Median))
		s := calibration.Planted{Share: percent / 100, Steps: n, Known: spanOf(loop.more[1], float64(n)/doubled)}
		p.Shares, steps = append(p.Shares, s), append(steps, n)
	}
	each, err := c.count(ctx, steps)
	if err != nil {
		return err
	}
	p.CPUPerRequest, p.Requests = each.cpu[0]/float64(each.requests[0]), each.requests[0]
	for i := range p.Shares {
		s := &p.Shares[i]
		s.Counted, s.Requests = spanOf(each.more[i+1], 1), each.requests[i+1]
		s.CPUPerRequest = each.cpu[i+1] / float64(s.Requests)
	}
	return json.NewEncoder(os.Stdout).Encode(p)
}

func spanOf(rounds []float64, times float64) calibration.Span {
	s := stats.Summarise(rounds)
	return calibration.Span{Median: times * s.Median, Low: times * s.Low, High: times * s.High}
}

// counted is what was read of servers, in their order: in all, and by round how much more a
// request cost than with the first.
type counted struct {
	cpu      []float64
	requests []int64
	more     [][]float64
}

// count loads servers of so many steps for half of the time, in rounds of short slots.
func (c planter) count(ctx context.Context, steps []int) (*counted, error) {
	const slot = 0.1
	plan := &load.Plan{Threads: 1}
	port, err := contest.FreePorts(len(steps))
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for i, n := range steps {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port+i))
		argv := append(pinned(c.On), self, "serve", "--addr", addr, "--steps", strconv.Itoa(n))
		proc, err := leash.Start(leash.Spec{Argv: argv})
		if err != nil {
			return nil, err
		}
		defer proc.Stop(proc.Pid(), time.Second)
		plan.Targets = append(plan.Targets, load.Target{Name: strconv.Itoa(i), URL: "http://" + addr + "/", Connections: 32,
			Pipelining: 1, Processes: []int{proc.Pid()}})
		plan.Slots = append(plan.Slots, load.Slot{Target: i, Seconds: 0.5})
		for range 100 {
			if conn, err := net.Dial("tcp", addr); err == nil {
				conn.Close()
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	rounds := max(stats.MinSamples, int(c.Counting.Seconds()/2/slot/float64(len(steps))))
	for range rounds {
		for _, i := range rand.Perm(len(steps)) {
			plan.Slots = append(plan.Slots, load.Slot{Target: i, Seconds: slot, Counts: true})
		}
	}
	report, err := load.Run(ctx, plan, load.Options{})
	if err != nil {
		return nil, err
	}
	out := &counted{make([]float64, len(steps)), make([]int64, len(steps)), make([][]float64, len(steps))}
	for r := range rounds {
		cost := make([]float64, len(steps))
		for _, s := range report.Slots[len(steps)*(r+1) : len(steps)*(r+2)] {
			if s.Failed != "" || s.Requests == 0 {
				return nil, fmt.Errorf("a server that was loaded alone did not keep up (%s); leave the machine alone, and call again", s.Failed)
			}
			out.cpu[s.Target] += s.ServerCPUS[0]
			out.requests[s.Target] += s.Requests
			cost[s.Target] = s.ServerCPUS[0] / float64(s.Requests)
		}
		for i := range steps {
			out.more[i] = append(out.more[i], cost[i]/cost[0]-1)
		}
	}
	return out, nil
}
