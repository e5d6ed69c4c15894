package main

import (
	"cmp"
	"time"

	"github.com/line-rate/line-rate/lab/internal/session"
)

// longest is the longest budget: a day.
const longest = 24 * time.Hour

// ports are where the servers of a block listen. profile does not have them for a server
// that runs already.
type ports struct {
	Port int `xor:"from" placeholder:"N" help:"Port of the first server; others of a block have those above (default 8083)."`
}

func (p ports) first() int { return cmp.Or(p.Port, 8083) }

// options are the flags of run and reproduce.
type options struct {
	ports
	Budget time.Duration `placeholder:"DURATION" help:"The longest that it goes on, as 90s or 20m (default: what the experiments say together; reproduce takes no more than 225 s for the core set and 24m for --all)."`
	Seed   uint64        `placeholder:"N" help:"Seed of the order of slots; further runs take N+1 and so on (default: drawn anew)."`
	Host   string        `placeholder:"NAME" help:"Call this machine NAME in data/hosts (default: the name in .lab-host, or one made from what stays the same on it)."`
}

// session is what they ask of one.
func (o options) session() session.Options {
	return session.Options{Port: o.first(), Budget: o.Budget, Seed: o.Seed, Host: o.Host}
}
