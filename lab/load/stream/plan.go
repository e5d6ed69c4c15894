package stream

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/load"
)

// A Plan says what Run opens, and for how long it reads.
type Plan struct {
	// Addresses are connected to in turn: each a host and a port, or a Unix socket's path, which
	// has a slash. From one address of the client to one of the server there are about 28,000
	// ports; more connections need more addresses on either side, as 127.0.0.1 and 127.0.0.2.
	Addresses   []string      `json:"addresses"`
	Locals      []string      `json:"locals,omitempty"` // to connect from, in turn; none: the kernel chooses
	Host        string        `json:"host,omitempty"`   // of the requests; "": the first address
	Paths       []string      `json:"paths"`            // with query; asked for in turn
	Connections int           `json:"connections"`
	Threads     int           `json:"threads,omitempty"`    // 0: one
	WarmUp      time.Duration `json:"warm_up_ns,omitempty"` // after all have an answer; at least 20 ms
	Window      time.Duration `json:"window_ns"`            // in which is counted
	Drain       time.Duration `json:"drain_ns,omitempty"`   // the longest, if streams do not end
	Quiet       time.Duration `json:"quiet_ns,omitempty"`   // without an event for so long, it ends sooner; 0: it does not
	Retry       time.Duration `json:"retry_ns,omitempty"`   // if the stream says none; 0: a second
	Timeout     time.Duration `json:"timeout_ns,omitempty"` // for the head of an answer; 0: ten seconds
	Nap         time.Duration `json:"nap_ns,omitempty"`     // 0: DefaultNap; below 0: none
	Most        int           `json:"most,omitempty"`       // bytes of an event; 0: DefaultMost
	Stalled     int           `json:"stalled,omitempty"`    // the first so many stop reading after an event
}

// DefaultNap is how long a thread that has read everything sleeps before an event may wake it.
// To be woken for each event costs more CPU time than to find several, and a server on the same
// machine pays a part of that. Times are late by up to a nap; but the first event after a longer
// pause is not.
const DefaultNap = 500 * time.Microsecond

// Limits of a Plan.
const (
	MaxConnections = 1 << 20
	MaxThreads     = 256
	MaxPaths       = 1 << 16
	// MaxTimed is for how many paths times are told apart: those of a path take half a megabyte.
	MaxTimed = 64
)

// Check says what is wrong with a plan, by field.
func (p *Plan) Check() error {
	switch {
	case len(p.Addresses) == 0:
		return errors.New("addresses: there are none")
	case len(p.Paths) == 0 || len(p.Paths) > MaxPaths:
		return fmt.Errorf("paths: there are %d; give 1 to %d", len(p.Paths), MaxPaths)
	case p.Connections < 1 || p.Connections > MaxConnections:
		return fmt.Errorf("connections is %d; give 1 to %d", p.Connections, MaxConnections)
	case p.Threads < 0 || p.Threads > MaxThreads:
		return fmt.Errorf("threads is %d; give up to %d", p.Threads, MaxThreads)
	case p.Window <= 0:
		return fmt.Errorf("window_ns is %d; give a time above 0", p.Window)
	case min(p.WarmUp, p.Drain, p.Quiet, p.Retry, p.Timeout) < 0:
		return errors.New("a time is below 0")
	case p.Nap >= time.Second:
		return fmt.Errorf("nap_ns is %d; give less than a second", p.Nap)
	case p.Most < 0 || p.Stalled < 0:
		return errors.New("most and stalled cannot be below 0")
	}
	for _, path := range p.Paths {
		r := load.Request{Method: "GET", Path: path}
		if err := r.Valid(); err != nil {
			return fmt.Errorf("paths: %w", err)
		}
	}
	for _, a := range p.Locals {
		if net.ParseIP(a) == nil {
			return fmt.Errorf("locals: %.80q is no IP address", a)
		}
	}
	if strings.ContainsFunc(p.host(), func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return fmt.Errorf("host is %.80q", p.host())
	}
	return nil
}

func (p *Plan) host() string {
	if host := cmp.Or(p.Host, p.Addresses[0]); !strings.Contains(host, "/") {
		return host
	}
	return "localhost" // of a Unix socket
}

// A Report is what Run saw.
type Report struct {
	Begin       time.Time          `json:"begin"`   // of the window
	Seconds     float64            `json:"seconds"` // of the window
	CPUSeconds  float64            `json:"cpu_s"`   // of this process in it
	Open        int                `json:"open"`    // connections at the window's end
	Whole       Counts             `json:"whole"`   // from the first connection to the end of the drain
	Window      Counts             `json:"window"`  //
	Times                          // of all paths
	Paths       []PathReport       `json:"paths"`       // as in the plan
	Connections []ConnectionReport `json:"connections"` // by their numbers
	Faults      []Fault            `json:"faults"`      // one of each kind that came
}

// Counts are of events, unless they say something else.
type Counts struct {
	Events     int64 `json:"events"`
	Bytes      int64 `json:"bytes"`      // that were read, with heads and framing
	Missed     int64 `json:"missed"`     // ids that a connection skipped; Reordered of them came later
	Repeated   int64 `json:"repeated"`   // with an id that the connection has had
	Reordered  int64 `json:"reordered"`  // with an id that the connection had skipped
	Early      int64 `json:"early"`      // read before published, as the clocks have it: latency 0
	Cut        int64 `json:"cut"`        // connections that the server ended amid an event
	Ends       int64 `json:"ends"`       // connections that the server ended, in whatever way
	Reconnects int64 `json:"reconnects"` // connections that were opened again, or tried to be
}

// counts in one list, so that adding and subtracting cannot forget one.
func (c *Counts) all() [9]*int64 {
	return [...]*int64{&c.Events, &c.Bytes, &c.Missed, &c.Repeated, &c.Reordered, &c.Early, &c.Cut, &c.Ends, &c.Reconnects}
}

func (c *Counts) add(o Counts, times int64) {
	others := o.all()
	for i, n := range c.all() {
		*n += times * *others[i]
	}
}

// Times are nil where nothing was counted.
type Times struct {
	FirstEvent *load.Histogram `json:"first_event,omitempty"` // from a connection's opening; of the whole run
	Gaps       *load.Histogram `json:"gaps,omitempty"`        // between events of a connection, in the window
	Latency    *load.Histogram `json:"latency,omitempty"`     // of events that say when they were published, in the window
}

func newTimes() *Times { return &Times{load.NewHistogram(), load.NewHistogram(), load.NewHistogram()} }

func (t *Times) merge(o *Times) {
	t.FirstEvent.Merge(o.FirstEvent)
	t.Gaps.Merge(o.Gaps)
	t.Latency.Merge(o.Latency)
}

func (t *Times) raw() Times { return Times{t.FirstEvent.Raw(), t.Gaps.Raw(), t.Latency.Raw()} }

// A PathReport is what came of one path. It has times if the plan has up to MaxTimed paths.
type PathReport struct {
	Path   string `json:"path"`
	Open   int    `json:"open"` // connections at the window's end
	Whole  Counts `json:"whole"`
	Window Counts `json:"window"`
	Times
}

// A ConnectionReport is what one connection can say for a ledger.
type ConnectionReport struct {
	Path    int   `json:"path"` // its number
	Events  int64 `json:"events"`
	IDs     int64 `json:"ids"`      // events with an id of their own that is a decimal number
	FirstID int64 `json:"first_id"` // of those
	LastID  int64 `json:"last_id"`
	Open    bool  `json:"open"`    // at the window's end
	Stalled bool  `json:"stalled"` // it had its first event, and read no more
}

// A Fault is of the server, or of what lies between.
type Fault struct {
	Kind  string `json:"kind"`
	N     int64  `json:"n"`
	First string `json:"first"` // what the first one was, and of which connection
}

// The kinds of faults. After the three that the server would only repeat, a connection is not
// opened again.
const (
	Refused     = "refused"      // no connection
	Reset       = "reset"        // a connection that ended as none should
	Timeout     = "timeout"      // no head of an answer
	Malformed   = "malformed"    // a head or a chunk that is none
	Silent      = "silent"       // no event in the window, on any connection
	Status      = "status"       // another than 200
	ContentType = "content-type" // another than text/event-stream
	TooLarge    = "too-large"    // an event of more bytes than the plan has
)
