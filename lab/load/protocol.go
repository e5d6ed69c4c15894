package load

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// A Plan is what the generator is to do. All connections of all targets are
// opened first and stay open to the end. In a slot only its target is loaded. New takes no slots
// from it: they are given to Turn.
type Plan struct {
	Threads  int      `json:"threads"`   // of the client; 0: one for each core that it may use
	TimeoutS float64  `json:"timeout_s"` // of one answer, in seconds; 0: DefaultTimeoutS
	Targets  []Target `json:"targets"`
	Slots    []Slot   `json:"slots"` // in the order of time
	Wire     *Wire    `json:"wire,omitempty"`
	// Raw asks for histograms.
	Raw bool `json:"raw,omitempty"`
	// Seed draws the order in which a target's requests are sent.
	Seed uint64 `json:"seed,omitempty"`
}

// DefaultTimeoutS is the timeout in seconds of a plan that names none.
const DefaultTimeoutS = 10

// A Target is one server and how it is loaded.
type Target struct {
	Name        string  `json:"name"`
	URL         string  `json:"url"`
	Connections int     `json:"connections"`
	Pipelining  int     `json:"pipelining"` // requests in flight on each connection
	Rate        float64 `json:"rate"`       // requests per second; 0: a closed loop
	Answers     string  `json:"answers"`    // server whose answers to compare with: "fiber", "null", or "" for none
	Processes   []int   `json:"processes"`  // process ids of the server, whose CPU clocks are read at the slots' edges
	// CPUFile tells the CPU time of a cgroup, which is read beside the processes' clocks and
	// stands behind them: its cpu.stat, or cpuacct.usage of version 1.
	CPUFile string `json:"cpu_file,omitempty"`

	Unix     string    `json:"unix,omitempty"`     // path of a socket; of the URL, host and port are then only the Host header
	Protocol string    `json:"protocol,omitempty"` // "": HTTP/1.1; "h2": HTTP/2, by ALPN over https, with prior knowledge over http
	Close    bool      `json:"close,omitempty"`    // a new connection for each request
	Insecure bool      `json:"insecure,omitempty"` // https without checking the certificate
	CA       string    `json:"ca,omitempty"`       // certificates in PEM, one of which has signed the server's; "": the host's
	Cert     string    `json:"cert,omitempty"`     // of this client, in PEM, with its chain
	Key      string    `json:"key,omitempty"`      // of the certificate, in PEM
	SNI      string    `json:"sni,omitempty"`      // whom https greets; "": the name in the first request's Host header, or the URL's
	Requests []Request `json:"requests,omitempty"` // by weight; none: GET of the URL
}

// Asked are the requests, or that of the URL alone.
func (t *Target) Asked() ([]Request, error) {
	if len(t.Requests) > 0 {
		return t.Requests, nil
	}
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, err
	}
	return []Request{{Method: "GET", Path: u.RequestURI()}}, nil
}

// TLS is how the target's server is to prove who it is; nil without TLS.
func (t *Target) TLS() (*tls.Config, error) {
	u, err := url.Parse(t.URL)
	if err != nil || u.Scheme != "https" {
		return nil, err
	}
	host := u.Hostname()
	for _, r := range t.Requests[:min(1, len(t.Requests))] {
		for _, h := range r.Headers {
			name, _, split := strings.Cut(h[1], ":")
			if strings.EqualFold(h[0], "host") && (!split || net.ParseIP(name) == nil) {
				host = name
			}
		}
	}
	c := &tls.Config{ServerName: cmp.Or(t.SNI, host), InsecureSkipVerify: t.Insecure, NextProtos: []string{"http/1.1"},
		DynamicRecordSizingDisabled: true} // which would cut long requests into many records
	if t.Protocol == HTTP2 {
		c.NextProtos = []string{HTTP2}
	}
	if t.Cert != "" {
		own, err := tls.X509KeyPair([]byte(t.Cert), []byte(t.Key))
		if err != nil {
			return nil, fmt.Errorf("cert and key: %w", err)
		}
		c.Certificates = []tls.Certificate{own}
	}
	if t.CA != "" {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM([]byte(t.CA)) {
			return nil, errors.New("ca has no certificate in PEM")
		}
	}
	return c, nil
}

// Clocks is how many CPU times of a target a slot has.
func (t *Target) Clocks() int {
	if t.CPUFile != "" {
		return len(t.Processes) + 1
	}
	return len(t.Processes)
}

// A Slot is a turn of one target.
type Slot struct {
	Target int `json:"target"` // index into Targets
	// Seconds is the length of the counted time. In a closed loop it is longer if answers take more than a
	// fifth of it: five times as long as they do, up to five seconds.
	Seconds float64 `json:"seconds"`
	Counts  bool    `json:"counts"` // false: a warm-up, loaded and checked, whose faults alone are in the summary
	// Requests ends the slot after so many, which all count; Seconds is then the longest. 0: no number.
	Requests int `json:"requests,omitempty"`
}

// A Wire names the shapers that are read at the slots' edges. The server's is
// read in the network namespace of a process, the client's in the generator's.
type Wire struct {
	ServerPID    int    `json:"server_pid"`
	ServerDevice string `json:"server_device"`
	ClientDevice string `json:"client_device"`
}

// A SlotReport is what was measured in one slot, in its counted time.
type SlotReport struct {
	Slot           int       `json:"slot"` // index in the plan
	Target         int       `json:"target"`
	AtNS           int64     `json:"at_ns"`            // begin of the counted time, CLOCK_MONOTONIC
	Seconds        float64   `json:"seconds"`          // length of the counted time, as measured; 0 if Failed
	FillS          float64   `json:"fill_s"`           // from the slot's first request to AtNS
	Requests       int64     `json:"requests"`         // answers with an expected status that came within the counted time
	Bytes          int64     `json:"bytes"`            // all answers completed within the counted time, with their heads
	ServerCPUS     []float64 `json:"server_cpu_s"`     // by process of the target, in the plan's order: of the turn, by requests (ofTurn)
	IdleCPUS       float64   `json:"idle_cpu_s"`       // all processes of all other targets together
	ClientCPUS     float64   `json:"client_cpu_s"`     // the whole generator
	BusiestThreadS float64   `json:"busiest_thread_s"` // CPU time of the generator's busiest thread
	// longest time without an answer within the counted time, or to its ends
	SilenceS float64 `json:"silence_s"`
	// Unread has the processes whose CPU clock could not be read, and 0 for a cgroup;
	// their time is 0.
	Unread []int       `json:"unread,omitempty"`
	Wire   *WireReport `json:"wire,omitempty"`
	Turn   TurnReport  `json:"turn"`
	// Failed says why the slot does not count: its target stalled, died, or had
	// failed before. All figures but FillS are then 0.
	Failed string `json:"failed,omitempty"`
}

// A TurnReport is of a whole slot, from before its first request to after its last answer. At both
// ends nothing is in flight, so what was read then divides by these.
type TurnReport struct {
	Requests int64   `json:"requests"` // answers, whatever their status
	Seconds  float64 `json:"seconds"`
}

// A WireReport is what the shapers let pass in the counted time: tx from server
// to client, rx from client to server. Packets are segments.
type WireReport struct {
	TxBytes   int64 `json:"tx_bytes"`
	TxPackets int64 `json:"tx_packets"`
	RxBytes   int64 `json:"rx_bytes"`
	RxPackets int64 `json:"rx_packets"`
	Drops     int64 `json:"drops"` // both directions
}

// A Summary is the whole plan's result, by target.
type Summary struct {
	Version string    `json:"version"` // version and sources of the generator
	Threads int       `json:"threads"`
	Start   time.Time `json:"start"`
	Finish  time.Time `json:"finish"`
	// relative step of latencies: the true one is lower by up to this share
	LatencyStep float64         `json:"latency_step"`
	Targets     []TargetSummary `json:"targets"` // in the plan's order
}

// A TargetSummary is one target's result. Requests and bytes are from the counted
// time of counted slots; faults are from the whole time.
type TargetSummary struct {
	Name     string `json:"name"`
	Requests int64  `json:"requests"`
	Bytes    int64  `json:"bytes"`
	Non2xx   int64  `json:"non2xx"`   // answers with another status than one expected
	Errors   int64  `json:"errors"`   // requests without a valid answer, and refused connections
	Timeouts int64  `json:"timeouts"` // requests
	Resets   int64  `json:"resets"`   // connections ended by the server
	// Statuses has the answers of Non2xx by their status.
	Statuses map[int]int64 `json:"statuses,omitempty"`
	// Varies says that bodies changed in the course of the load: from then on their lengths were compared.
	Varies     bool   `json:"varies,omitempty"`
	Reopened   int64  `json:"reopened,omitempty"` // connections whose end the server announced, or that ended while nothing was under way
	Fault      string `json:"fault,omitempty"`    // description of the first of these four
	Mismatches int64  `json:"mismatches"`         // answers with an expected status and a wrong body or head
	Mismatch   string `json:"mismatch,omitempty"` // description of the first
	Compared   int64  `json:"compared"`           // bodies compared in full
	// requests among the latencies that had no answer when the slot was drained
	Unanswered int64    `json:"unanswered"`
	Latency    *Latency `json:"latency_s,omitempty"`  // absent without answers
	SendLag    *SendLag `json:"send_lag_s,omitempty"` // present if there is a rate and something was due
	// Histogram is present if the plan asked for it and there is anything in it.
	Histogram *Histogram `json:"histogram,omitempty"`
	// Open has the connections that were open at the end.
	Open int `json:"open,omitempty"`
	// Answered has all answers, in counted time or not and whatever their status; absent without any.
	Answered int64 `json:"answered,omitempty"`
	// RequestBytes is the mean length of a request as it is written, by weight; absent where its
	// protocol packs it.
	RequestBytes float64 `json:"request_bytes,omitempty"`
	// ByRequest is in the plan's order, and absent where it names no requests.
	ByRequest []RequestSummary `json:"by_request,omitempty"`
}

// A RequestSummary is what came of one of a target's requests. Faults are from the whole
// time. Requests that were due and never sent are those of no one.
type RequestSummary struct {
	Name       string   `json:"name"`       // or method and path
	Unexpected int64    `json:"unexpected"` // answers with another status than one expected
	Lost       int64    `json:"lost"`       // requests without a valid answer
	Mismatches int64    `json:"mismatches"` // answers with a wrong body or head
	Compared   int64    `json:"compared"`   // bodies compared in full
	Latency    *Latency `json:"latency_s,omitempty"`
}

// A Latency is in seconds, of the requests that were sent within the counted time of
// counted slots, or were due then in an open loop. Answers that came in the drain are
// among them, and requests without an answer, with their age.
type Latency struct {
	N    int64   `json:"n"` // requests
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}

// Figures are the latencies by the names of package metric, with the share of the
// requests that were left without an answer. Of those only the age is known; so the mean,
// the maximum and the percentiles that lie among them are not known, and are absent.
func (t *TargetSummary) Figures() map[string]float64 {
	l := t.Latency
	if l == nil || l.N == 0 {
		return nil
	}
	cut := float64(t.Unanswered) / float64(l.N)
	m := map[string]float64{"latency_cut_share": cut}
	for _, one := range []struct {
		name  string
		below float64
		v     float64
	}{
		{"p50", 0.5, l.P50}, {"p90", 0.9, l.P90}, {"p99", 0.99, l.P99}, {"p999", 0.999, l.P999},
		{"max", 1, l.Max}, {"mean", 1, l.Mean},
	} {
		if one.below <= 1-cut {
			m["latency_"+one.name+"_s"] = one.v
		}
	}
	return m
}

// A SendLag is how late the generator itself was, in seconds.
type SendLag struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// A Report is a generator's whole output.
type Report struct {
	Slots   []SlotReport
	Held    bool // all slots were over and it waited to be ended
	Summary Summary
}
