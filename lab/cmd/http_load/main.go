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
	_ "embed"
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

//go:embed help.txt
var help string

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
