// Command event_reader watches the posts of a fanout_server on many connections while it gives likes to
// them, and prints what came of each event as one line of JSON.
//
//	fanout_server --addr 127.0.0.1:8084
//	event_reader --server 127.0.0.1:8084 --connections 1000 --rate 200 --duration 10
//
// Both sides count: the server, which says where it lost an event, and this program, by the numbers
// that events have. The line says whether the two agree.
//
// It gives likes at a fixed rate (--rate), so a server that stalls cannot put them off. Without a rate, as many
// writers as --writers says give them, and each waits for its answer. A server that pushes to another one says
// itself where the readers go.
//
// Limits: Linux, and loopback only. Readers and writers share this process, and its CPU time is that of both. The
// window of the readers lies within that of the writers, and begins --warmup after the last reader has its stream.
package main

import (
	"errors"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/load"
)

// settings are what a person can choose.
type settings struct {
	server           string // its address
	topics           int
	connections      int
	writers, rate    int // rate 0: writers wait for their answers
	warmup, duration time.Duration
}

const maxWriters = 1_000

const help = `event_reader watches the posts of a fanout_server, gives likes to them, and prints one
line of JSON: what came, what did not, and where it was lost.

Usage: event_reader --server HOST:PORT [options]

  --server HOST:PORT    who is watched, as 127.0.0.1:8084
  --topics N            posts, from 0                        (default 10)
  --connections N       streams, spread over the posts       (default 1000)
  --rate N              likes a second, whatever becomes of those before; 0: each
                        writer waits for its answer          (default 1000)
  --writers N           connections that give likes          (default 16)
  --warmup SECONDS      before the measured part, from 0.2   (default 1)
  --duration SECONDS    length of the measured part          (default 10)

SIGTERM or SIGINT ends it; nothing is printed.

Exit statuses: 0 measured; 1 failed, or ended by a signal; 2 a setting was
refused; 3 no server is there.
`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	reader := program.Program{Name: "event_reader", Out: stdout, Errs: stderr}
	s, err := parse(args)
	if status, over := reader.Over(err, help); over {
		return status
	}
	// Two threads wait without telling Go, and what else is done must not wait for them.
	runtime.GOMAXPROCS(4)
	return reader.Measure(s.measure)
}

// parse reads the flags. Every error is one line that names what is accepted.
func parse(args []string) (settings, error) {
	s := settings{topics: 10, connections: 1000, writers: 16, rate: 1000, warmup: time.Second, duration: 10 * time.Second}
	fs := program.NewFlags()
	fs.Loopback("server", &s.server)
	fs.Whole("topics", &s.topics, 1, load.MaxRequests) // the kinds of requests that a load can have
	fs.Whole("connections", &s.connections, 1, load.MaxConnections-maxWriters)
	fs.Whole("rate", &s.rate, 0, 1_000_000)
	fs.Whole("writers", &s.writers, 1, maxWriters)
	fs.Seconds("warmup", &s.warmup, 0.2) // in which the writers begin
	fs.Seconds("duration", &s.duration, 0.1)
	err := fs.Read(args, "")
	if err == nil && s.server == "" {
		err = errors.New("--server is missing; see --help")
	}
	return s, err
}
