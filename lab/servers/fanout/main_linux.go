// Command fanout_server counts likes and tells them to all who watch a post, as server-sent events over HTTP/1.1.
// The designs of the series' chapter two are variants of this program, so that two of them differ in nothing else.
// Which flags make which design is in lab/servers.toml, and in the experiments of entries 13 to 17.
//
// With --apart the writers' process starts that of the readers, and both end together.
//
// Defaults are the published ones. Where the series has no program, this one does the least that the
// text says. It does not ask who gives a like, and sends no reader the events from before its time.
//
// Limits: Linux, and loopback only, since a client that reaches it can make it send. A reader that
// takes nothing is never cut off: its channel fills, and its events are lost there.
package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/profile/endpoint"
	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/servers/fanout/hub"
)

// settings are what a person can choose.
type settings struct {
	addr      string
	hub       hub.Options
	drainers  int
	window    time.Duration // 0: push each count
	live      bool          // ask first which posts have readers, once in a window
	sockets   string        // a directory; empty: no profiles
	apart     string        // the network to a process of its own for the readers, or "no"
	pushTo    net.Addr      // that process; nil: likes are published in this one
	readers   string        // its address for them
	inherited bool          // it is that process
}

const help = `fanout_server counts likes and sends each count to all readers of a post.

Usage: fanout_server [options]

  --addr HOST:PORT      address to listen on, loopback only (default 127.0.0.1:8084)
  --topics N            posts, from 0                       (default 10)
  --subscriber N        room of a subscriber's channel      (default 8)
  --shards N            of a topic; 0: one goroutine        (default 0)
  --shard-by HOW        address (of the subscriber) or counter (default address)
  --apart HOW           serve readers in a second process, and push counts to it
                        over tcp or a Unix socket: unix     (default no)
  --drainers N          connections that push, each one count at a time (default 1)
  --window TIME         push only the last count of each post in so long, as in
                        100ms                               (default: each count)
  --route HOW           of a window: all counts, or live: those of posts that have
                        readers                             (default all)
  --pprof-sockets DIR   serve profiles on DIR/<pid>.sock    (default: none)

POST /like/{post}, POST /publish/{post}, GET /events/{post}, GET /live, GET /ledger.
SIGTERM or SIGINT ends it at once.

Exit codes: 0 ended when asked, 1 failed, 2 a setting was refused, 3 the address
is in use.
`

// The kernel ends the readers' process with the thread that started it, so that is the main one.
func init() { runtime.LockOSThread() }

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	fanout := program.Program{Name: "fanout_server", Out: os.Stdout, Errs: os.Stderr}
	s, err := parse(args)
	if status, over := fanout.Over(err, help); over {
		return status
	}
	asked, ended := program.Asked(), make(chan error, 2)
	if s.inherited {
		tcp, failed := net.FileListener(os.NewFile(3, "inherited")) // behind the standard streams
		unix, err := net.FileListener(os.NewFile(4, "inherited"))
		if err = errors.Join(failed, err); err != nil {
			fanout.Say("--inherited is set by --apart alone: %v", err)
			return program.Refused
		}
		srv := newServer(s)
		go func() { ended <- srv.serve(unix) }()
		return fanout.Serve(tcp, asked, func() error { return srv.serve(tcp) })
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
	if s.apart != "no" {
		if err := s.startReaders(args, ended); err != nil {
			fanout.Say("--apart: the readers' process: %v", err)
			return program.Failure
		}
	}
	srv := newServer(s)
	go func() { ended <- srv.serve(ln) }()
	return fanout.Serve(ln, asked, func() error { return <-ended })
}

// parse reads the flags. Every error is one line that names what is accepted.
func parse(args []string) (s settings, err error) {
	s = settings{addr: "127.0.0.1:8084", hub: hub.Published(), drainers: 1}
	shardBy, route := "", ""
	fs := program.NewFlags()
	fs.Loopback("addr", &s.addr)
	fs.Whole("topics", &s.hub.Topics, 1, 10_000)
	fs.Whole("subscriber", &s.hub.Subscriber, 1, 1<<20)
	fs.Whole("shards", &s.hub.Shards, 0, 1024)
	fs.Whole("drainers", &s.drainers, 1, 1024)
	fs.OneOf("shard-by", &shardBy, "address", "counter")
	fs.OneOf("route", &route, "all", "live")
	fs.OneOf("apart", &s.apart, "no", "tcp", "unix")
	fs.BoolVar(&s.inherited, "inherited", false, "")
	fs.Func("window", "", func(v string) (err error) {
		if s.window, err = time.ParseDuration(v); err != nil || s.window < time.Millisecond || s.window > time.Minute {
			return errors.New("give a time from 1ms to 1m")
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
	s.hub.Counter, s.live = shardBy == "counter", route == "live"
	switch {
	case s.apart == "no" && (s.window > 0 || s.live):
		err = errors.New("--window and --route are of pushes; set --apart")
	case s.live && s.window == 0:
		err = errors.New("--route live asks once in a window; set --window")
	}
	return s, err
}

// startReaders starts a process of this program, with the same arguments, for the readers. It inherits
// its sockets, TCP and Unix, so that their addresses are known before it runs. ended gets its end.
func (s *settings) startReaders(args []string, ended chan<- error) error {
	cmd := exec.Command("/proc/self/exe", append(args, "--inherited")...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	// An abstract address of a Unix socket: no file is left behind.
	for _, at := range [][2]string{{"tcp", "127.0.0.1:0"}, {"unix", fmt.Sprintf("@fanout-%d", os.Getpid())}} {
		ln, err := net.Listen(at[0], at[1])
		if err != nil {
			return err
		}
		defer ln.Close()
		file, err := ln.(interface{ File() (*os.File, error) }).File()
		if err != nil {
			return err
		}
		defer file.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, file)
		if at[0] == "tcp" {
			s.readers = ln.Addr().String()
		}
		if at[0] == s.apart {
			s.pushTo = ln.Addr()
		}
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { ended <- errors.Join(errors.New("the readers' process ended"), cmd.Wait()) }()
	return nil
}
