// Command http_load loads HTTP servers and prints what it saw, one JSON object a line.
//
//	http_load --url http://127.0.0.1:8083/read --connections 100 --pipelining 10
//	http_load --url http://127.0.0.1:8083/read --connections 100 --rate 5000
//	http_load --plan -
//
// Package load is what loads, and says how and within which limits; package loader adds what
// the lab knows.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/line-rate/line-rate/lab/internal/loader"
	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/load"
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
	loader.Begin()
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	http := program.Program{Name: "http_load", Out: stdout, Errs: stderr}
	plan, fromInput, err := parse(args)
	if status, over := http.Over(err, help); over {
		return status
	}
	if fromInput {
		err = loader.Input(ctx, stdin, stdout)
	} else {
		err = loader.Carry(ctx, plan, nil, stdout)
	}
	if err != nil {
		http.Say("%v", err)
	}
	return loader.Status(err)
}

// parse reads the flags. Every error is one line that names what is accepted.
func parse(args []string) (plan *load.Plan, fromInput bool, err error) {
	var t load.Target
	var warmup, duration float64
	p := &load.Plan{}
	fs := program.NewFlags()
	fs.StringVar(&t.URL, "url", "", "")
	fs.StringVar(&t.Answers, "answers", "", "")
	fs.IntVar(&t.Connections, "connections", 100, "")
	fs.IntVar(&t.Pipelining, "pipelining", 1, "")
	fs.IntVar(&p.Threads, "threads", 0, "")
	fs.Float64Var(&t.Rate, "rate", 0, "")
	fs.Float64Var(&duration, "duration", 20, "")
	fs.Float64Var(&warmup, "warmup", 0, "")
	fs.Float64Var(&p.TimeoutS, "timeout", load.DefaultTimeoutS, "")
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
	p.Targets = []load.Target{t}
	if warmup != 0 {
		p.Slots = append(p.Slots, load.Slot{Seconds: warmup})
	}
	p.Slots = append(p.Slots, load.Slot{Seconds: duration, Counts: true})
	if err := p.Check(); err != nil {
		return nil, false, fmt.Errorf("%w; see --help", err)
	}
	return p, false, nil
}
