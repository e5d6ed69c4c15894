// Package fleet joins the hosts of a run that has several: one with the servers,
// and any number of clients that load them.
//
// The lab on the server's host measures, as it does on one machine. Its clients
// are elsewhere: the host from which the run was started reaches all others over
// SSH, passes on what the server's host has for them, and brings back what they
// print. It relays and measures clocks, and knows nothing of experiments.
//
// Hosts have numbers here: the server's is 0, clients count from 1. Their names,
// addresses and keys are in the inventory, which never leaves the host that
// started the run. Reasons that may come into a results file name numbers only.
//
// # Security
//
// No host opens a port for the lab: frames, results and raw profiles go through
// the standard input and output of commands that SSH started, and SSH's own checks
// of host keys are in force. Profiles are taken on the server's host over a unix
// socket, and come back as files. A host believes what another one sends only as
// far as its form goes: each frame is checked, a client starts the lab's own load
// script and nothing else, and only files that a run adds are collected, into
// places where none is yet. Whoever can change a client's lab can still lie about
// what it counted.
//
// # Ends
//
// Heartbeats go both ways each second. A host that has said nothing for five
// seconds counts as gone: a client then ends its load, the server's host ends the
// run in good order and keeps its complete blocks, and the run is told of a client
// that is lost. So nothing outlives a run by more than some seconds, however its
// hosts or their network fail.
//
// # Limits
//
// All that hosts say to each other passes the host that started the run, so its
// links should not be those that the load goes over. A clock is measured through
// SSH, to within half of a round trip. All hosts have the lab at one commit.
package fleet

import (
	"context"
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/load"
)

// A Hello is what a host says of itself before a run.
type Hello struct {
	Version  int                    `json:"version"`  // of the frames
	Profile  host.Profile           `json:"profile"`  // without the host's name and addresses
	Machine  string                 `json:"machine"`  // the kernel's boot id: hosts with the same one share a machine
	Commit   string                 `json:"commit"`   // of the lab
	Dirty    bool                   `json:"dirty"`    // whether what the lab is made of differs from that commit
	Binaries map[string]host.Binary `json:"binaries"` // that a run may start, by name
	Tools    map[string]string      `json:"tools"`
	Kernel   map[string]string      `json:"kernel"`
	Memory   int64                  `json:"memory_bytes"`
	CPUs     []int                  `json:"cpus"` // that the load may use
	// interface that leads to the server; of the server: to the clients
	Device   string   `json:"device"`
	LineRate float64  `json:"line_rate_bps"` // of that interface; 0: unknown
	Files    uint64   `json:"files"`         // hard limit on open files
	Note     string   `json:"note,omitempty"`
	Left     []string `json:"left,omitempty"` // kernel settings that something turned and nothing has restored
}

// A Clock says how far a client's wall clock is ahead of that of the server's
// host.
type Clock struct {
	OffsetS      float64 `json:"offset_s"`
	UncertaintyS float64 `json:"uncertainty_s"`  // the true offset lies no further away
	Method       string  `json:"method"`         // "chrony" or "round-trips"
	Note         string  `json:"note,omitempty"` // that the two disagree, in words
}

// A Load is what one client is to do.
type Load struct {
	// Plan is for the lab's own generator; its slots begin at times of the
	// client's own wall clock, in ns since 1970.
	Plan    *load.Plan `json:"plan,omitempty"`
	CPUs    []int      `json:"cpus,omitempty"` // to pin the load to; empty: as the host's inventory says
	LimitNS int64      `json:"limit_ns"`       // after which it counts as hung
	// The bytes at the client's interface are counted between these times of its wall
	// clock. They are the same for all clients, of which one may have
	// fewer slots: what is sent to it between slots passes the server's interface.
	FromNS int64 `json:"from_ns,omitempty"`
	ToNS   int64 `json:"to_ns,omitempty"`
}

// Seen is what a client's own telemetry saw while a load ran.
type Seen struct {
	// Metrics are figures of the client's side by the names of package metric:
	// client_cores_busy, client_thread_busy_max, client_steal, client_foreign_load,
	// client_rss_bytes, throttled_s, swap_pages, clock_step_s, sampler_busy and
	// whatever else package telemetry gives of a client.
	Metrics map[string]float64 `json:"metrics"`
	// cores that the load itself used, as client_foreign_load counts cores
	Own     float64         `json:"own"`
	Cores   map[int]float64 `json:"cores"`   // share in which each of the client's cores was busy, with anything
	Stopped bool            `json:"stopped"` // a signal stopped the load for a while
	GapS    float64         `json:"gap_s"`   // longest time without a sample
	// the other process that used most of the client's cores, as package gate may name it
	Others string `json:"others,omitempty"`
	// Bytes that the interface to the server received and sent from Load.FromNS to
	// Load.ToNS; -1: not read.
	RxBytes int64 `json:"rx_bytes"`
	TxBytes int64 `json:"tx_bytes"`
}

// Clients are the clients of a run, as the server's host reaches them.
type Clients interface {
	// Hellos are what the hosts say of themselves, the server's first.
	Hellos() []Hello
	// Clocks measures the clocks of all clients, in their order.
	Clocks(ctx context.Context) ([]Clock, error)
	// Start starts a load on a client, whose number counts from 1.
	Start(ctx context.Context, client int, l Load) (Running, error)
}

// A Running is a load that a client carries out.
type Running interface {
	// Held is closed when the generator says that its load is over and its
	// connections are still open.
	Held() <-chan struct{}
	// Release lets a generator end that is held.
	Release()
	// Done is closed when the load has ended or the client is lost.
	Done() <-chan struct{}
	// Result is valid after Done: what the load printed, and what was seen. The
	// times of a plan's slots are by the client's wall clock, as in the plan. The
	// error is Lost, Refused, or says how the load failed.
	Result() (printed []byte, seen Seen, err error)
	// Stop ends the load, and returns once it has ended or the grace is over.
	Stop(grace time.Duration)
}

// Lost says that a client cannot be reached any more.
type Lost struct {
	Client int
	Why    string
}

func (l Lost) Error() string {
	return fmt.Sprintf("client %d was lost in mid-run: %s", l.Client, l.Why)
}

// Refused says that a client could not start a load, and would not start the
// next one either.
type Refused struct {
	Client int
	Why    string
}

func (r Refused) Error() string { return r.Why }
