// Package measure loads servers side by side and says what a request to each of them cost. It is
// the one engine of lab run, linerate compare and the calibration.
//
// A block is the unit of evidence. All of its servers start afresh and are up at once on the same
// cores, and one client goes round them in short slots, in an order that the caller drew. A block
// of two servers, where the third is the second once more as the A/A control, and of two rounds:
//
//	server c1       [  w . . | s . . | . s . |          ]
//	server c2       [  . w . | . . s | s . . |          ]
//	server c3       [  . . w | . s . | . . s |          ]
//	client             warm-up round 1 round 2 profile
//
//	[  the server starts, and all servers must give the same answers
//	w  a warm-up slot, which does not count
//	s  a slot: the client loads this server alone; the others are idle
//	]  the server ends
//
// Nothing is in flight between two slots. There the engine reads the servers' CPU clocks, the
// wire's counters and what else ran on the cores, so that a slot's figures are exact and no clock
// has to agree with another.
//
// A fault refuses a trial (package gate has the table): a server or the client died, answered
// wrongly, or was held back. A disturbance of the machine refuses nothing. Conditions take turns
// of a fraction of a second in an order drawn by lot, so it meets all alike: it is written down.
package measure

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/slots"
	"github.com/line-rate/line-rate/lab/load"
)

// Settle has this process disturb what it measures as little as it can. More memory costs less than a
// collector that runs during a trial, and one sampling thread costs less than several that wake each other.
func Settle() {
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(math.MaxInt64) // whatever GOMEMLIMIT the caller has
	runtime.GOMAXPROCS(1)
}

// A Plan is what blocks are made of.
type Plan struct {
	Subjects []Subject // in the caller's order
	// Target says how a subject is asked, by its index and address.
	Target func(i int, addr string) load.Target
	Asked  []gate.Asked    // what faults of each subject's trial are judged by
	Warmup []time.Duration // load on each subject before its first slot
	Slot   time.Duration   // counted time of a slot
	Rounds int             // slots of each subject in a block

	Link                   Link
	Self                   []string // the command that starts this program anew: see Answer
	Loader                 []string // the program that loads, which answers the same calls; it may be Self
	ServerCPUs, ClientCPUs []int    // of each side; empty: wherever the kernel puts it
	Dir                    string   // where clients start; empty: in the caller's
	LineRateBps            float64  // of the link; 0: it has none
	Clock                  Clock    // of the run
	Threads                int      // of the client; 0: one a core
	Seed                   uint64   // of the order of a target's requests
	// Unlike goes on although servers answer differently.
	Unlike bool
	Ready  time.Duration // how long a server that listens may take to answer as is expected; 0: 20 s
	// Extras are windows after the last slot in which something is done while the client loads a
	// subject alone, as taking a profile.
	Extras []Extra
}

// An Extra is one such window of each subject.
type Extra struct {
	Window time.Duration
	Due    func(i int) bool                       // whether subject i has one in this block
	Do     func(ctx context.Context, i int) error // an error refuses the subject's trial
}

// A Subject is a server of a block.
type Subject interface {
	// Up starts the server, or finds it, and returns when it may be loaded.
	Up(ctx context.Context) error
	// Down ends what Up started, with all its processes.
	Down()
	// Name is the server's in messages.
	Name() string
	// Addr is HOST:PORT or unix:/PATH, as the client reaches it.
	Addr() string
	// CPU reads the CPU clocks of the server's processes.
	CPU() Clocks
	// Gone says how the server ended; nil while it runs.
	Gone() error
}

// Clocks are readings of the CPU time of a server's processes.
type Clocks struct {
	Known bool // false: the lab knows only the server's address
	proc.Times
}

// since is the CPU time that each process used since another reading; of other processes, the sum
// alone can be told.
func (c Clocks) since(before Clocks) []time.Duration {
	if !slices.Equal(c.PIDs, before.PIDs) || c.Ended != before.Ended {
		return []time.Duration{c.Total() - before.Total()}
	}
	all := make([]time.Duration, len(c.CPU))
	for i, one := range c.CPU {
		all[i] = one - before.CPU[i]
	}
	return all
}

// A Link joins the servers' side and the client's: loopback, or a wire.
type Link interface {
	Server(argv []string) []string // the command that runs another on the servers' side
	Client(argv []string) []string
	Read() (slots.Passed, error) // what has passed so far; zero where there is no wire
	PID() int                    // a process in the servers' network namespace; 0: this one's
	Wrappers() int               // so many processes are above a command on a side
	Lost() bool                  // it is gone, and nothing more can be measured
	Down()                       // takes it away
}

// Loopback is the link of servers and clients on this machine.
type Loopback struct{}

func (Loopback) Server(argv []string) []string { return argv }
func (Loopback) Client(argv []string) []string { return argv }
func (Loopback) Read() (slots.Passed, error)   { return slots.Passed{}, nil }
func (Loopback) PID() int                      { return 0 }
func (Loopback) Wrappers() int                 { return 0 }
func (Loopback) Lost() bool                    { return false }
func (Loopback) Down()                         {}

// A Trial is all slots of one subject in a block.
type Trial struct {
	StartedAt time.Time
	Slots     []slots.Slot
	Strangers float64 // time that others ran on the servers' cores, as a share of a core; 0 where it cannot be read
	Metrics   map[string]float64
	Faults    []Fault           // empty: the trial counts
	Notes     []string          // what a person should know about it
	Reopened  int64             // connections that were opened anew, since the server announced their end
	Extra     []load.SlotReport // of the plan's extras
	Tally     Tally             // warm-ups included
	// Of a trial in one piece: latencies known only as "less than", and the steps in which they were
	// recorded.
	Below, Resolution map[string]float64
}

// A Tally is how many of some requests had a wrong answer or none, and what the first of these had.
// It also counts those that met the end of their connection on their way, which the client asked
// again.
type Tally struct {
	Failed, Asked, Again int64
	First                string
	Varies               bool // the bodies changed in the course of the load
}

// TallyOf is that of a load of a target.
func TallyOf(s load.TargetSummary) (t Tally) {
	t.Failed, t.Asked, t.First = s.Failed()
	t.Again, t.Varies = s.Crossed, s.Varies
	return t
}

// Add adds another tally.
func (t *Tally) Add(o Tally) {
	t.Failed, t.Asked, t.Again, t.First = t.Failed+o.Failed, t.Asked+o.Asked, t.Again+o.Again, cmp.Or(t.First, o.First)
	t.Varies = t.Varies || o.Varies
}

// Share is a number of requests as a share of all.
func (t Tally) Share(n int64) float64 { return float64(n) / max(1, float64(t.Asked)) }

// A Fault is why a trial does not count, by its name in package gate.
type Fault struct{ Name, Detail string }

// Block measures all subjects once, in slots whose order is given by the subjects' indices. What
// ends a run is an error: a server that does not start, another program that answers in its place,
// answers that differ, a lost wire, a cancelled context. What concerns this block alone is a fault
// of its trials, which are in the subjects' order.
func (p *Plan) Block(ctx context.Context, order []int) (trials []Trial, err error) {
	err = p.with(ctx, func(b *block) error {
		if err := b.alike(ctx); err != nil {
			return err
		}
		trials = b.trials
		if err := b.measure(ctx, order); errors.Is(err, errEnded) {
			return nil
		} else if err != nil {
			return err
		}
		w := b.sampler.Between(0, b.began, time.Now(), 0)
		for i := range trials {
			b.figures(i, w)
			b.faults(i, w)
		}
		return nil
	})
	return trials, err
}
