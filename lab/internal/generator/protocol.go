package generator

import "time"

// A Plan is what the generator is to do. All connections of all targets are
// opened first and stay open to the end. In a slot only its target is loaded.
type Plan struct {
	Threads  int      `json:"threads"`   // of the client; 0: one for each core it may use
	TimeoutS float64  `json:"timeout_s"` // of one answer; 0: DefaultTimeoutS
	Targets  []Target `json:"targets"`
	Slots    []Slot   `json:"slots"` // in the order in which they come
	Wire     *Wire    `json:"wire,omitempty"`
}

// DefaultTimeoutS is a plan's timeout where it names none.
const DefaultTimeoutS = 10

// A Target is one server and how it is loaded.
type Target struct {
	Name        string  `json:"name"`
	URL         string  `json:"url"`
	Connections int     `json:"connections"`
	Pipelining  int     `json:"pipelining"` // requests in flight on each connection
	Rate        float64 `json:"rate"`       // requests a second; 0: a closed loop
	Answers     string  `json:"answers"`    // whose answers to compare with: "fiber", "null", or "" for none
	Processes   []int   `json:"processes"`  // pids of the server, whose CPU clocks are read at the slots' edges
}

// A Slot is a turn of one target.
type Slot struct {
	Target  int     `json:"target"`  // index
	Seconds float64 `json:"seconds"` // length of what counts
	Counts  bool    `json:"counts"`  // false: a warm-up, loaded and checked, in no figure of the summary but the faults
}

// A Wire names the shapers that are read at the slots' edges. The server's is
// read in the network namespace of a process, the client's in the generator's.
type Wire struct {
	ServerPID    int    `json:"server_pid"`
	ServerDevice string `json:"server_device"`
	ClientDevice string `json:"client_device"`
}

// A SlotReport is what was measured in one slot, between the two edges of what
// counts.
type SlotReport struct {
	Slot           int         `json:"slot"` // index in the plan
	Target         int         `json:"target"`
	AtNS           int64       `json:"at_ns"`            // begin of what counts, CLOCK_MONOTONIC
	Seconds        float64     `json:"seconds"`          // length of what counts, as measured; 0 where Failed
	FillS          float64     `json:"fill_s"`           // from the slot's first request to there
	Requests       int64       `json:"requests"`         // answers 2xx that came within what counts
	Bytes          int64       `json:"bytes"`            // of all answers that were complete within what counts, with their heads
	ServerCPUS     []float64   `json:"server_cpu_s"`     // by process of the target, in the plan's order
	IdleCPUS       float64     `json:"idle_cpu_s"`       // of all other targets' processes together
	ClientCPUS     float64     `json:"client_cpu_s"`     // of the whole generator
	BusiestThreadS float64     `json:"busiest_thread_s"` // CPU time of its busiest thread
	SilenceS       float64     `json:"silence_s"`        // longest time without an answer within what counts, or to its ends
	Unread         []int       `json:"unread,omitempty"` // pids whose CPU clock could not be read; their time stands as 0
	Wire           *WireReport `json:"wire,omitempty"`
	// Failed says why nothing of this slot counts: its target stalled, died, or
	// had failed before. All figures but FillS are then 0.
	Failed string `json:"failed,omitempty"`
}

// A WireReport is what the shapers let pass within what counts: tx from server
// to client, rx from client to server. Packets are segments.
type WireReport struct {
	TxBytes   int64 `json:"tx_bytes"`
	TxPackets int64 `json:"tx_packets"`
	RxBytes   int64 `json:"rx_bytes"`
	RxPackets int64 `json:"rx_packets"`
	Drops     int64 `json:"drops"` // both ways
}

// A Summary is what the whole came to, by target.
type Summary struct {
	Version     string          `json:"version"` // of the generator: of which sources it was built
	Threads     int             `json:"threads"`
	Start       time.Time       `json:"start"`
	Finish      time.Time       `json:"finish"`
	LatencyStep float64         `json:"latency_step"` // a latency may stand for any from itself less this share of it
	Targets     []TargetSummary `json:"targets"`      // in the plan's order
}

// A TargetSummary is what came of one target. Requests, bytes and latencies are
// of the slots that count, between their edges; faults are of all the time.
type TargetSummary struct {
	Name       string   `json:"name"`
	Requests   int64    `json:"requests"`
	Bytes      int64    `json:"bytes"`
	Non2xx     int64    `json:"non2xx"`
	Errors     int64    `json:"errors"`               // requests that got no answer that can be believed, and connections that were refused
	Timeouts   int64    `json:"timeouts"`             // requests
	Resets     int64    `json:"resets"`               // connections that the server ended
	Fault      string   `json:"fault,omitempty"`      // the first of those four
	Mismatches int64    `json:"mismatches"`           // answers 2xx that were not what they have to be
	Mismatch   string   `json:"mismatch,omitempty"`   // the first
	Compared   int64    `json:"compared"`             // bodies that were looked at in full
	Unanswered int64    `json:"unanswered"`           // due within what counts, and not answered when the slot had been drained
	Latency    *Latency `json:"latency_s,omitempty"`  // absent where there was none
	SendLag    *SendLag `json:"send_lag_s,omitempty"` // where there is a rate, and something was due
}

// A Latency is in seconds. In a closed loop it counts from when a request was
// sent, in an open one from when it was due.
type Latency struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}

// A SendLag is how late the generator itself was, in seconds.
type SendLag struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// A Report is all that a generator printed.
type Report struct {
	Slots   []SlotReport
	Held    bool // all slots were over and it waited to be ended
	Summary Summary
}
