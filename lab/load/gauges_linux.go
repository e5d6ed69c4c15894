package load

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// This file reads the clocks of servers and the queues of a wire at the edges of slots, for the lab's old
// engine. The engine of package measure reads them itself, between turns.

// outside is what is read of servers and wires at an edge.
type outside struct {
	processes   []int64 // CPU time in ns, in the order of gauges.clocks; -1: cannot be read
	server, own Passed
}

// gauges read it.
type gauges struct {
	load   *Loader
	clocks []cpuOf // of all targets, each once
	of     [][]int // by target: the indices of its own in clocks
	text   [4096]byte
	wires  []Queue
}

// A cpuOf has CPU time: a process, or a cgroup.
type cpuOf struct {
	pid  int      // as the plan numbers it; 0 for a cgroup
	here int      // as this process's PID namespace numbers it
	path string   // of a cgroup's file
	file *os.File // which stays open
}

// open finds the clocks of all targets, and opens what is a file or a queue.
func (g *gauges) open() error {
	own := len(numbers("self"))
	for _, t := range g.load.plan.Targets {
		places := []int{}
		for _, pid := range t.Processes {
			c := cpuOf{pid: pid, here: pid}
			// Inside a wire's namespaces, /proc is still that of the outside, and so are
			// the numbers of the plan; a process's CPU clock needs the inner number.
			if all := numbers(strconv.Itoa(pid)); own > 0 && len(all) >= own {
				c.here = all[own-1]
			}
			places = append(places, g.clock(c))
		}
		if t.CPUFile != "" {
			places = append(places, g.clock(cpuOf{path: t.CPUFile}))
		}
		g.of = append(g.of, places)
	}
	for i := range g.clocks {
		if c := &g.clocks[i]; c.path != "" {
			var err error
			if c.file, err = os.Open(c.path); err != nil {
				return fmt.Errorf("cpu_file: %w", err)
			}
		}
	}
	if w, open := g.load.plan.Wire, g.load.options.Queue; w != nil {
		if open == nil {
			return errors.New("wire: nobody says how to read a queue")
		}
		server, err := openIn(w.ServerPID, w.ServerDevice, open)
		if err != nil {
			return fmt.Errorf("the server's shaper: %w", err)
		}
		g.wires = append(g.wires, server)
		own, err := open(w.ClientDevice)
		if err != nil {
			return fmt.Errorf("the client's shaper: %w", err)
		}
		g.wires = append(g.wires, own)
	}
	return nil
}

// clock is the index of a clock, which is added unless another target has it.
func (g *gauges) clock(c cpuOf) int {
	at := slices.IndexFunc(g.clocks, func(o cpuOf) bool { return o.pid == c.pid && o.path == c.path })
	if at < 0 {
		at, g.clocks = len(g.clocks), append(g.clocks, c)
	}
	return at
}

func (g *gauges) close() {
	for _, c := range g.clocks {
		if c.file != nil {
			c.file.Close()
		}
	}
	for _, q := range g.wires {
		q.Close()
	}
}

// numbers returns a process's number in each PID namespace, from that of /proc to its
// own.
func numbers(process string) (all []int) {
	text, err := os.ReadFile("/proc/" + process + "/status")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "NSpid:"); ok {
			for _, field := range strings.Fields(rest) {
				n, _ := strconv.Atoi(field) // the kernel's own
				all = append(all, n)
			}
		}
	}
	return all
}

// openIn opens a shaper in the network namespace of a process. The socket stays in that
// namespace. The thread that opened it ends, so that no other goroutine runs there.
func openIn(pid int, device string, open func(string) (Queue, error)) (queue Queue, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		var ns *os.File
		if ns, err = os.Open(fmt.Sprintf("/proc/%d/ns/net", pid)); err != nil {
			return
		}
		defer ns.Close()
		if err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			err = fmt.Errorf("the network namespace of process %d: %w", pid, err)
			return
		}
		queue, err = open(device)
	}()
	<-done
	return queue, err
}

func (g *gauges) newOutside() outside { return outside{processes: make([]int64, len(g.clocks))} }

// read reads a target's own clocks, then the others' and the queues.
func (g *gauges) read(o *outside, target int) (err error) {
	for _, own := range []bool{true, false} {
		for i := range g.clocks {
			if slices.Contains(g.of[target], i) == own {
				o.processes[i] = g.process(i)
			}
		}
	}
	if len(g.wires) == 2 {
		if o.server, err = g.wires[0].Read(); err == nil {
			o.own, err = g.wires[1].Read()
		}
	}
	return err
}

func (g *gauges) process(i int) int64 {
	c := &g.clocks[i]
	if c.file != nil {
		n, _ := c.file.ReadAt(g.text[:], 0)
		return groupTime(g.text[:n])
	}
	t, ok := processTime(c.here)
	if !ok {
		return -1
	}
	return t
}

// ofTurn puts in place of a slot's CPU times its part, by requests, of those of the whole turn. Linux
// brings the clock of another process's thread up to date when the thread is switched out and at
// each tick of its core, so at an edge, amid the load, it may be late by a tick (4 ms at 250 Hz): a
// server that never sleeps then seems to have used less than one that does. Before the first
// request and after the last answer of a turn the server sleeps, and its clocks are exact.
func (g *gauges) ofTurn(r *SlotReport, turn *[2]edge) {
	all := turn[1].requests - turn[0].requests
	if r.Requests <= 0 || all < r.Requests {
		return
	}
	for n, i := range g.of[r.Target] {
		if from, to := turn[0].outside.processes[i], turn[1].outside.processes[i]; from >= 0 && to >= from {
			r.ServerCPUS[n] = seconds(to-from) * float64(r.Requests) / float64(all)
		}
	}
}

// usage is the key of a cgroup's CPU time in microseconds, in its cpu.stat.
const usage = "usage_usec "

// groupTime is the CPU time in ns that a cgroup's file tells: cpu.stat, or cpuacct.usage of
// version 1, which has nothing but ns. It is -1 if neither can be read.
func groupTime(text []byte) int64 {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	digits, micro := bytes.CutPrefix(line, []byte(usage))
	t, err := strconv.ParseUint(string(digits), 10, 63)
	switch {
	case err != nil:
		return -1
	case micro:
		return int64(t) * 1000
	}
	return int64(t)
}

// report adds what was read to a slot's report.
func (g *gauges) report(r *SlotReport, window, turn *[2]edge) {
	a, b := &window[0].outside, &window[1].outside
	r.ServerCPUS = []float64{}
	used := func(i int) float64 {
		if a.processes[i] < 0 || b.processes[i] < a.processes[i] {
			if !slices.Contains(r.Unread, g.clocks[i].pid) {
				r.Unread = append(r.Unread, g.clocks[i].pid)
			}
			return 0
		}
		return seconds(b.processes[i] - a.processes[i])
	}
	for _, i := range g.of[r.Target] {
		r.ServerCPUS = append(r.ServerCPUS, used(i))
	}
	for i := range g.clocks {
		if !slices.Contains(g.of[r.Target], i) {
			r.IdleCPUS += used(i)
		}
	}
	if len(g.wires) == 2 {
		r.Wire = &WireReport{
			TxBytes: int64(b.server.Bytes - a.server.Bytes), TxPackets: int64(b.server.Packets - a.server.Packets),
			RxBytes: int64(b.own.Bytes - a.own.Bytes), RxPackets: int64(b.own.Packets - a.own.Packets),
			Drops: int64(b.server.Drops - a.server.Drops + b.own.Drops - a.own.Drops),
		}
	}
	g.ofTurn(r, turn)
}
