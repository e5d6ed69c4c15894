package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"
)

// mostBlocks is how many blocks anyone may ask for in one call.
const mostBlocks = 1000

// longest is the longest budget: a day.
const longest = 24 * time.Hour

// Options are what run, reproduce, syscalls and profile are told.
type options struct {
	budget    time.Duration // 0: what the experiments say
	blocks    int           // 0: as many as the budget holds
	seed      uint64
	port      int
	host      string
	keepGoing bool
	all       bool
	again     bool
	out       string // of profile: where its files go
}

func (o *options) parse(name string, args []string) ([]string, error) {
	if slices.ContainsFunc(args, isSize) {
		return nil, errors.New("--size: there is one design a file now; run and reproduce go on until claims are decided or a time is spent, which --budget sets (as 90s or 20m)")
	}
	fs := flags(name)
	fs.IntVar(&o.port, "port", 8083, "")
	if name == "run" || name == "reproduce" {
		fs.Func("budget", "", func(v string) (err error) {
			if o.budget, err = time.ParseDuration(v); err != nil {
				return errors.New("write it with its unit, as 90s or 20m")
			}
			return nil
		})
		fs.Uint64Var(&o.seed, "seed", 0, "")
		fs.StringVar(&o.host, "host", "", "")
	}
	switch name {
	case "run":
		fs.IntVar(&o.blocks, "blocks", 0, "")
	case "reproduce":
		fs.BoolVar(&o.all, "all", false, "")
		fs.BoolVar(&o.again, "again", false, "")
		fs.BoolVar(&o.keepGoing, "keep-going", false, "")
	case "profile":
		fs.StringVar(&o.out, "out", "", "")
	}
	rest, err := parse(fs, args)
	if err != nil {
		return nil, err
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case o.port < 1 || o.port > 65535:
		return nil, fmt.Errorf("--port %d: use 1 to 65535", o.port)
	case given["budget"] && (o.budget < time.Second || o.budget > longest):
		return nil, fmt.Errorf("--budget %v: use 1s to 24h", o.budget)
	case given["blocks"] && (o.blocks < 1 || o.blocks > mostBlocks):
		return nil, fmt.Errorf("--blocks %d: use 1 to %d", o.blocks, mostBlocks)
	}
	return rest, nil
}

func isSize(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return name == "--size" || name == "-size"
}
