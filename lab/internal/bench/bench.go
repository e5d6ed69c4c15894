// Package bench measures, for linerate compare, whether one HTTP server costs more than another:
// two builds of a program, or any programs that answer the same request. Package measure carries
// out the blocks, and package compare says what they tell.
//
//	parse what is asked
//	look: start all servers side by side, ask each once, compare what they answer, load each
//	warm: load each until its cost is steady (steady.go)
//	block after block, in an order drawn by lot, until the budget or the verdict
//	assess, and print
//
// One server is in each block twice, under two names, as the A/A control. A comparison is one stay
// of a minute, and it bets on each of its blocks. So it says what was seen in that minute.
//
// What cannot be measured is refused in the look, in one line, with a way out. Afterwards only a
// fault refuses a block. A disturbance of the machine is told in a line, and widens the intervals.
//
// Servers that run already are measured from outside. They are not started afresh for each block,
// so what differs between two starts of one server is not seen. Of those that are known by their
// addresses alone the CPU time cannot be read, and nothing is said of cost.
package bench

import (
	"cmp"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/load"
)

// A Bench is a comparison on this machine.
type Bench struct {
	Options
	Dir        string   // where the commands start
	Self       []string // the command that starts this program anew: see measure.Answer
	ServerCPUs []int    // empty: wherever the servers are put
	ClientCPUs []int
	Port       int // of the first place in a block; others have those above
	Seed       uint64
	Say        func(format string, args ...any) // a line that stays
	Show       func(text string)                // of how far it is
	Looks      []Look                           // at the servers: see Look
}

// loopback is where servers listen that are started here.
const loopback = "127.0.0.1"

// subject is a server as the engine starts or finds it, at the nth place of a block.
func (b *Bench) subject(i, place int) measure.Subject {
	s := b.Servers[i]
	switch {
	case s.URL != "" && s.found == nil:
		return measure.Address{Label: s.Name, At: s.address()}
	case s.URL != "":
		return &measure.Running{Label: s.Name, At: s.address(), Processes: s.found.processes, File: s.found.file}
	}
	port := b.Port + place
	argv := s.fill(port)
	argv[0] = s.program(b.dir(s))
	return &measure.Command{Label: s.Name, Argv: argv, Dir: b.dir(s), On: b.ServerCPUs, At: net.JoinHostPort(loopback, strconv.Itoa(port)),
		Within: b.Ready, Prepare: b.Prepare, Quiet: i < len(b.Looks) && b.Looks[i].Chatty, Self: b.Self, Link: measure.Loopback{}}
}

// dir is where a server's command starts.
func (b *Bench) dir(s Server) string { return cmp.Or(s.Dir, b.Dir) }

// target is what is asked of a server at an address.
func (b *Bench) target(name, addr string) load.Target {
	host := addr
	t := load.Target{Name: name, Connections: b.Connections, Pipelining: b.Pipelining, Rate: float64(b.Rate),
		Requests: b.Requests, Close: b.Close}
	if socket, ok := strings.CutPrefix(addr, "unix:"); ok {
		t.Unix, host = socket, "localhost"
	}
	// The slash between keeps any path on this server.
	t.URL = "http://" + host + "/" + strings.TrimPrefix(b.Path, "/")
	return b.Way.Of(t)
}

// plan is what all plans of the engine share. Connections and slots are not among what faults are
// judged by: with a new connection for each request there are none between two, and in a short slot a
// busy machine may let nothing be answered.
func (b *Bench) plan(subjects []measure.Subject) *measure.Plan {
	p := &measure.Plan{Subjects: subjects, Link: measure.Loopback{}, Self: b.Self, Loader: b.Self, Clock: measure.NewClock(),
		ServerCPUs: b.ServerCPUs, ClientCPUs: b.ClientCPUs, Seed: b.Seed, Unlike: true, Ready: b.Ready,
		Target: func(i int, addr string) load.Target { return b.target(subjects[i].Name(), addr) }}
	for range subjects {
		p.Asked = append(p.Asked, gate.Asked{Generator: setting.HTTPLoad, Pipelining: b.Pipelining, Rate: float64(b.Rate)})
		p.Warmup = append(p.Warmup, max(b.Looks[0].Warmup, leastWarmup))
	}
	return p
}

// leastWarmup has each connection of a server used before anything counts.
const leastWarmup = 10 * time.Millisecond
