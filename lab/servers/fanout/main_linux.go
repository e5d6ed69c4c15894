// Command fanout_server counts likes and tells them to all who watch a post, as server-sent events over
// HTTP/1.1: the designs of the series' chapter two as variants of one program, so that two of them differ
// in nothing else.
//
//	fanout_server                                       one process, one goroutine a topic (entry 13)
//	fanout_server --shards 8 [--shard-by counter]       the same with shards (entry 14)
//	fanout_server --apart tcp                           a process for the readers, and one for the writers,
//	                                                    which pushes to it (entry 15)
//	fanout_server --apart tcp --window 100ms            one push for each post and window (entry 16)
//	fanout_server … --window 100ms --route live         and none for a post without readers (entry 17)
//
//	POST /like/{post}      counts a like, and publishes the count or pushes it
//	POST /publish/{post}   publishes the count in its body: what a push asks
//	GET  /events/{post}    a stream of events: their numbers, and JSON with the count and the time
//	GET  /live             the posts that somebody watches
//	GET  /ledger           what became of each like, push and delivery (see package hub)
//
// With --apart the writers' process starts that of the readers, and both end together.
//
// Defaults are the published ones. Where a program was not published, this one does the least that its
// text says; likes are not told apart by who gives them, and no reader has the events of the time before
// it came.
//
// Limits: Linux, and loopback only, since whoever reaches it can make it send. A reader that takes nothing is never
// cut off: its channel fills, and its events are lost there.
package main

import (
	"errors"
	"net"
	"os"
	"time"

	"github.com/line-rate/line-rate/lab/internal/profile/endpoint"
	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/servers/fanout/hub"
)

// settings are what a person can choose.
type settings struct {
	addr     string
	hub      hub.Options
	drained  bool // what was written to a stream leaves when no other event waits, and not after each, as published
	drainers int
	window   time.Duration // 0: each count is pushed
	live     bool          // ask first which posts have readers, once in a window
	sockets  string        // a directory; empty: no profiles
	apart    string        // the network to a process of its own for the readers; empty: there is none
	pushTo   net.Addr      // that process
	readers  string        // its address for them
	child    bool          // it is that process
}

const help = `fanout_server counts likes and sends each count to all readers of a post.

Usage: fanout_server [options]

  --addr HOST:PORT      address to listen on, loopback only (default 127.0.0.1:8084)
  --topics N            posts, from 0                       (default 10)
  --subscriber N        room of a subscriber's channel      (default 8)
  --shards N            of a topic; 0: one goroutine        (default 0)
  --shard-by HOW        address (of the subscriber) or counter
                                                            (default address)
  --flush WHEN          each: after each event; drained: when no other waits
                                                            (default each)
  --apart HOW           serve readers in a second process, and push counts to it
                        over tcp or a Unix socket: unix (default: one process)
  --drainers N          connections that push, each one count at a time
                                                            (default 1)
  --window TIME         push the last count of each post once in so long, as in
                        100ms; 0: each count                (default 0)
  --route HOW           of a window: all counts, or live: those of posts that have
                        readers                             (default all)
  --pprof-sockets DIR   serve profiles on DIR/<pid>.sock    (default: none)

POST /like/{post}, POST /publish/{post}, GET /events/{post}, GET /live, GET /ledger.
SIGTERM or SIGINT ends it at once.

Exit codes: 0 ended when asked, 1 failed, 2 a setting was refused, 3 the address
is in use.
`

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	fanout := program.Program{Name: "fanout_server", Out: os.Stdout, Errs: os.Stderr}
	s, err := parse(args)
	if status, over := fanout.Over(err, help); over {
		return status
	}
	asked := program.Asked()
	if s.child {
		return s.serveReaders(fanout, asked)
	}
	ln, status := fanout.Listen("tcp", s.addr, "addr")
	if ln == nil {
		return status
	}
	stop, status := endpoint.Serve(s.sockets, endpoint.Rates{}, fanout)
	if stop == nil {
		return status
	}
	defer stop()
	if s.apart != "" {
		gone, err := s.startReaders(args)
		if err != nil {
			fanout.Say("--apart: the readers' process: %v", err)
			return program.Failure
		}
		go func() {
			fanout.Say("the readers' process ended: %v", <-gone)
			os.Exit(program.Failure)
		}()
	}
	srv := newServer(s)
	return fanout.Serve(ln, asked, func() error { return srv.serve(ln) })
}

// parse reads the flags. Every error is one line that names what is accepted.
func parse(args []string) (s settings, err error) {
	s = settings{addr: "127.0.0.1:8084", hub: hub.Published(), drainers: 1}
	fs := program.NewFlags()
	fs.Loopback("addr", &s.addr)
	fs.Whole("topics", &s.hub.Topics, 1, 10_000)
	fs.Whole("subscriber", &s.hub.Subscriber, 1, 1<<20)
	fs.Whole("shards", &s.hub.Shards, 0, 1024)
	fs.Whole("drainers", &s.drainers, 1, 1024)
	shardBy, flush, route := "", "", ""
	fs.OneOf("shard-by", &shardBy, "address", "counter")
	fs.OneOf("flush", &flush, "each", "drained")
	fs.OneOf("route", &route, "all", "live")
	fs.Func("apart", "", func(v string) error {
		if s.apart = v; v != "tcp" && v != "unix" {
			return errors.New("give tcp or unix")
		}
		return nil
	})
	fs.BoolVar(&s.child, "inherited", false, "")
	fs.Func("window", "", func(v string) (err error) {
		if s.window, err = time.ParseDuration(v); err != nil || s.window > time.Minute ||
			s.window != 0 && s.window < time.Millisecond {
			return errors.New("give 0, or a time from 1ms to 1m")
		}
		return nil
	})
	fs.Func("pprof-sockets", "", func(v string) error {
		s.sockets = v
		return endpoint.Check(v)
	})
	if err := fs.Read(args, ""); err != nil {
		return settings{}, err
	}
	s.hub.Counter, s.drained, s.live = shardBy == "counter", flush == "drained", route == "live"
	switch {
	case s.apart == "" && (s.window > 0 || s.live):
		err = errors.New("--window and --route are of pushes; set --apart")
	case s.live && s.window == 0:
		err = errors.New("--route live asks once in a window; set --window")
	}
	return s, err
}
