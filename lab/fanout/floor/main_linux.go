// Command fanout_floor does what fanout_server does at the least cost: one thread straight on epoll counts
// likes and sends each count to all readers of the post. What fanout_server costs beyond that is its
// design's and net/http's.
//
// All requests that one wait for epoll reports are read before anything is sent. So each reader gets the
// events of its post among them in one write, up to 64 at a time. For a reader whose socket is full some
// events wait, beside the rest of one that was begun; the events after them are lost. What a failed write
// was to send is lost at the socket, and what waited for a reader that left is lost with it.
//
// A stream has no chunks and ends with its connection: this framing has the fewest bytes.
//
// Limits: Linux, loopback, HTTP/1.1; no pushes, no dates, and no time after which an idle client has to go.
// A request with a body, or of HTTP/1.0, is the last of its connection. A client that leaves its answers
// unread until its socket is full is cut off. A reader has left when it ends its side of the connection.
package main

import (
	"net"
	"os"
	"runtime"

	"github.com/line-rate/line-rate/lab/fanout/hub"
	"github.com/line-rate/line-rate/lab/internal/program"
)

const help = `fanout_floor counts likes and sends each count to all readers of a post, at the least cost.

  --addr HOST:PORT  address to listen on, loopback only (default 127.0.0.1:8084)
  --topics N        posts, from 0                       (default 10)
  --subscriber N    events that wait for a reader       (default 8)

POST /like/{post}, GET /events/{post}, GET /live, GET /ledger.
SIGTERM or SIGINT ends it at once.
Exit codes: 0 ended when asked, 1 failed, 2 a setting was refused, 3 the address is in use.
`

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	floor := program.Program{Name: "fanout_floor", Out: os.Stdout, Errs: os.Stderr}
	addr, o := "127.0.0.1:8084", hub.Published()
	flags := program.NewFlags() // with the bounds of fanout_server
	flags.Loopback("addr", &addr)
	flags.Whole("topics", &o.Topics, 1, 10_000)
	flags.Whole("subscriber", &o.Subscriber, 1, 1<<20)
	if status, over := floor.Over(flags.Read(args, ""), help); over {
		return status
	}
	asked := program.Asked()
	ln, status := floor.Listen("tcp", addr, "addr")
	if ln == nil {
		return status
	}
	runtime.GOMAXPROCS(1) // with more, Go wakes threads to look for work that there is not
	return floor.Serve(ln, asked, func() error {
		l, err := newLoop(ln.(*net.TCPListener), o)
		for err == nil {
			err = l.round(1000)
		}
		return err
	})
}
