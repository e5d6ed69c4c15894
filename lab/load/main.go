// Command http_load loads HTTP servers and prints what it saw, one JSON object a
// line.
//
//	http_load --url http://127.0.0.1:8083/read --connections 100 --pipelining 10
//	http_load --url http://127.0.0.1:8083/read --connections 100 --rate 5000
//	http_load --plan -
//
// It is the lab's own generator. A client must not be the bottleneck, so a request costs
// it little more than its share of two system calls. A thread waits with epoll for all
// its connections. Requests are prepared in advance, and as many are written at once as
// answers were read. Of an answer it reads only what it needs to trust it: the status,
// the end by Content-Length or by chunks, and the body. The body is compared with what
// the lab's server has for the route (--answers), or otherwise with the first body:
// always by length, and byte by byte if the right body is one only, of up to 16 KiB, or if
// those of the route are short. Of the others the first 32 are compared so, and then one in
// 64, drawn at random. A request allocates no memory.
//
// With a plan it loads several servers in turn, in short slots, so that they can be
// compared at nearly the same time; package generator has the format of the plan and of
// the output. A slot counts from when each connection has had its first answer in it. At
// its end, requests in flight are drained for up to two seconds, and the next target's
// slot begins. A latency counts if its request was sent within the counted window, and an
// answer counts as a request of the slot if it came within it: so the longest latencies
// are not lost, and throughput and CPU time are of one window. At both
// edges of the counted window it reads, one right after the other, the clock, its own
// counters, the CPU clocks of the servers and of itself, and the wire's shapers.
//
// The slots of a plan may have times, so that generators on several hosts go round them
// together. Such a slot counts from its time and for just its length, by answers that were
// read in it; the edges are read a moment later, which late_s tells. A slot whose time
// passed before it could begin, or by which a connection had no answer, has failed, and
// puts off no later one. The generator knows one clock, CLOCK_MONOTONIC of its host; that
// the hosts' clocks agree is for others to see to.
//
// Without a rate the loop is closed: the next request is sent when an answer has come.
// With a rate it is open. Each request is due at a time that is fixed before the first
// one is sent, and its latency counts from then, so that it includes the time that the
// request waited for a connection. So a server that stalls cannot put off the requests
// that would have shown it.
//
// In both, a request of the counted window that had no answer when the slot was drained is
// counted as unanswered, and enters the latencies with its age, which is the least that
// its latency can be.
//
// The clock is read once after each read from a socket. An answer's time is therefore
// late by no more than the earlier reads in the same batch of events, and answers that
// one read returned have the same time. With several threads, one thread reads a slot's
// edges: the other threads' counters are then those of their last batch. In slots with
// times each thread notes its counters itself.
//
// Limits: Linux only. GET only, HTTP/1.1 without TLS; an answer that ends only with its
// connection is an error. A timeout counts from a connection's last sign of life, so a
// server that answers a deep pipeline very slowly does not time out. Where answers take
// about as long as a slot, those that come in the drain come sooner than under the load,
// and latencies are too short; rate times mean latency, against what was in flight, shows
// by how much. In an open loop each
// thread has its own part of the connections and of the schedule. A connection that
// breaks is opened again at most five times. A target that stalls or dies in one slot is
// passed over in all later ones, so that the other targets' slots come in time.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/line-rate/line-rate/lab/internal/generator"
	"github.com/line-rate/line-rate/lab/internal/program"
)

const help = `http_load loads HTTP servers and prints a line of JSON for each slot, then a summary.

Usage: http_load --url URL [options]
       http_load --plan -

  --url URL            what to request, http only
  --connections N      open connections                                (default 100)
  --pipelining N       requests in flight on each                      (default 1)
  --rate N             requests a second, due at times fixed before    (default 0:
                       each connection sends when an answer has come)
  --duration SECONDS   length of the measured part                     (default 20)
  --warmup SECONDS     the same before it, in no figure but the faults (default 0)
  --threads N          client threads; 0 is one for each core that this
                       process may use                                 (default 0)
  --answers SERVER     compare answers with those that the lab's server, fiber
                       or null, has for the route     (default: with each other)
  --timeout SECONDS    after which a request is given up               (default 10)
  --plan -             read a plan of several targets and slots, as JSON, from
                       standard input; at its end keep the connections until the
                       word "end" or the end of the input

Exit statuses: 0 measured, whatever was answered; 1 failed, or ended by a
signal; 2 a setting was refused; 3 nothing listens there.
`

func main() {
	// So Go's runtime can keep only one core busy; the load asks for more as it needs
	// them.
	runtime.GOMAXPROCS(1)
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	load := program.Program{Name: "http_load", Out: stdout, Errs: stderr}
	plan, fromInput, err := parse(args)
	if status, over := load.Over(err, help); over {
		return status
	}
	var hold func() error
	if fromInput {
		var rest io.Reader
		if plan, rest, err = generator.ReadPlan(stdin); err != nil {
			load.Say("%v", err)
			return program.Refused
		}
		hold = func() error {
			if err := (generator.Line{Held: true}).Write(stdout); err != nil {
				return fmt.Errorf("standard output: %w", err)
			}
			return await(ctx, rest)
		}
	}
	summary, err := carryOut(ctx, plan, stdout, hold)
	if err == nil {
		err = generator.Line{Summary: summary}.Write(stdout)
	}
	if err != nil {
		load.Say("%v", err)
		if errors.Is(err, errNotReached) {
			return program.NotReached
		}
		return program.Failure
	}
	return program.OK
}

// await waits for the word "end" or the end of the input.
func await(ctx context.Context, input io.Reader) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(input)
		for lines.Scan() && strings.TrimSpace(lines.Text()) != "end" {
		}
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return errors.New("ended by a signal while it waited to be ended")
	}
}

// parse reads the flags. Every error is one line that names what is accepted.
func parse(args []string) (plan *generator.Plan, fromInput bool, err error) {
	t := generator.Target{Connections: 100, Pipelining: 1}
	p := &generator.Plan{}
	warmup, duration := 0.0, 20.0
	fs := program.NewFlags()
	number := func(dst *float64, least, most float64) func(string) error {
		return func(v string) error {
			n, err := strconv.ParseFloat(v, 64)
			if err != nil || math.IsNaN(n) || n != 0 && n < least || n > most {
				return fmt.Errorf("give a number from %v to %.0f", least, most)
			}
			*dst = n
			return nil
		}
	}
	fs.StringVar(&t.URL, "url", "", "")
	fs.StringVar(&t.Answers, "answers", "", "")
	fs.Whole("connections", &t.Connections, 1, generator.MaxConnections)
	fs.Whole("pipelining", &t.Pipelining, 1, generator.MaxPipelining)
	fs.Whole("threads", &p.Threads, 0, generator.MaxThreads)
	fs.Func("rate", "", number(&t.Rate, 0.001, generator.MaxRate))
	fs.Func("duration", "", number(&duration, 0.001, generator.MaxSeconds))
	fs.Func("warmup", "", number(&warmup, 0.001, generator.MaxSeconds))
	fs.Func("timeout", "", number(&p.TimeoutS, 0.001, generator.MaxSeconds))
	fs.Func("plan", "", func(v string) error {
		if fromInput = v == "-"; !fromInput {
			return errors.New("give -, and the plan on standard input")
		}
		return nil
	})
	if err := fs.Read(args, ""); err != nil {
		return nil, false, err
	}
	switch {
	case fromInput && fs.NFlag() > 1:
		return nil, false, errors.New("--plan has all settings in it; leave out the others")
	case fromInput:
		return nil, true, nil
	case t.URL == "":
		return nil, false, errors.New("--url is missing; see --help")
	}
	t.Name = t.URL
	p.Targets = []generator.Target{t}
	if warmup > 0 {
		p.Slots = append(p.Slots, generator.Slot{Seconds: warmup})
	}
	p.Slots = append(p.Slots, generator.Slot{Seconds: duration, Counts: true})
	if err := p.Check(); err != nil {
		return nil, false, fmt.Errorf("%w; see --help", err)
	}
	return p, false, nil
}
