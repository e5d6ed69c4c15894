// Package slots holds the slots of a trial, and what follows from them.
package slots

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Slot has the readings of a server in one slot. The counted time of a slot begins when each
// connection has had its first answer. All figures but FillS cover the counted time.
type Slot struct {
	AtS       float64 // when what counts began, since the run began
	DurationS float64
	FillS     float64 // from the slot's first request to AtS
	Requests  int64   // answers within what counts
	// CPU time of the server, of the load generator, and of all other servers of the block together.
	ServerCPUS, ClientCPUS, IdleCPUS float64
	// Over a wire, what passed from server to client, and from client to server; 0 without one.
	TxBytes, RxBytes int64
}

// Passed counts what has left the wire's shapers: tx from server to client, rx from client to server.
// A shaper charges each segment with its headers, which the interface's own counters miss.
type Passed struct{ TxBytes, TxPackets, RxBytes, RxPackets, Drops int64 }

// Since is what has passed since another reading.
func (p Passed) Since(before Passed) Passed {
	return Passed{p.TxBytes - before.TxBytes, p.TxPackets - before.TxPackets, p.RxBytes - before.RxBytes,
		p.RxPackets - before.RxPackets, p.Drops - before.Drops}
}

// MarshalJSON writes a slot as a row of whole numbers in the order of its fields, all times in
// microseconds. Only slots over a wire have the last two.
func (s Slot) MarshalJSON() ([]byte, error) {
	row := []int64{micros(s.AtS), micros(s.DurationS), micros(s.FillS), s.Requests, micros(s.ServerCPUS), micros(s.ClientCPUS),
		micros(s.IdleCPUS)}
	if s.TxBytes+s.RxBytes > 0 {
		row = append(row, s.TxBytes, s.RxBytes)
	}
	return json.Marshal(row)
}

// The numbers of a row.
const (
	alone  = 7
	onWire = 9
)

// UnmarshalJSON reads a row.
func (s *Slot) UnmarshalJSON(text []byte) error {
	var row []int64
	if err := json.Unmarshal(text, &row); err != nil {
		return err
	}
	if n := len(row); n != alone && n != onWire {
		return fmt.Errorf("a slot has %d numbers; each has %d, and over a wire %d", n, alone, onWire)
	}
	row = append(row, 0, 0)
	*s = Slot{seconds(row[0]), seconds(row[1]), seconds(row[2]), row[3], seconds(row[4]), seconds(row[5]), seconds(row[6]), row[7], row[8]}
	return nil
}

func micros(seconds float64) int64 { return int64(math.Round(seconds * 1e6)) }

func seconds(micros int64) float64 { return float64(micros) / 1e6 }

// Rounded is a slot with its times rounded to the file's precision, microseconds. These are the
// base of all figures.
func (s Slot) Rounded() Slot {
	for _, v := range []*float64{&s.AtS, &s.DurationS, &s.FillS, &s.ServerCPUS, &s.ClientCPUS, &s.IdleCPUS} {
		*v = seconds(micros(*v))
	}
	return s
}

// A Setup has the values that the shares of slots are relative to. A value of 0
// is unknown, and its share is left out.
type Setup struct {
	ServerCores, ClientCores int
	LineRateBps              float64
}

// Metrics computes a trial's figures from the sums over its slots, each rounded.
func Metrics(all []Slot, on Setup) map[string]float64 {
	var sum Slot
	for _, s := range all {
		sum.DurationS, sum.Requests = sum.DurationS+s.DurationS, sum.Requests+s.Requests
		sum.ServerCPUS, sum.ClientCPUS, sum.IdleCPUS = sum.ServerCPUS+s.ServerCPUS, sum.ClientCPUS+s.ClientCPUS, sum.IdleCPUS+s.IdleCPUS
		sum.TxBytes, sum.RxBytes = sum.TxBytes+s.TxBytes, sum.RxBytes+s.RxBytes
	}
	duration, requests := sum.DurationS, float64(sum.Requests)
	m := map[string]float64{"requests": requests, "duration_s": duration, "server_cpu_s": sum.ServerCPUS}
	if requests > 0 {
		m["server_cpu_per_request_s"], m["client_cpu_per_request_s"] = sum.ServerCPUS/requests, sum.ClientCPUS/requests
	}
	if duration > 0 {
		m["throughput_rps"], m["idle_servers_busy"] = requests/duration, sum.IdleCPUS/duration
		if on.ServerCores > 0 {
			m["server_cores_busy"] = sum.ServerCPUS / duration / float64(on.ServerCores)
		}
		if on.ClientCores > 0 {
			m["client_cores_busy"] = sum.ClientCPUS / duration / float64(on.ClientCores)
		}
		if sum.TxBytes+sum.RxBytes > 0 {
			m["wire_tx_bps"], m["wire_rx_bps"] = 8*float64(sum.TxBytes)/duration, 8*float64(sum.RxBytes)/duration
			if on.LineRateBps > 0 {
				m["line_rate_share"] = max(m["wire_tx_bps"], m["wire_rx_bps"]) / on.LineRateBps
			}
		}
	}
	RoundFollowing(m)
	return m
}

// Counts have six significant digits, more than the lab's clocks, ticks and histograms resolve;
// what follows from them has nine. Whole numbers are exact.
const (
	countedDigits   = 6
	followingDigits = 9
)

// Round rounds the figures that a trial counted.
func Round(metrics map[string]float64) { round(metrics, countedDigits) }

// RoundFollowing rounds figures that follow from others.
func RoundFollowing(metrics map[string]float64) { round(metrics, followingDigits) }

func round(metrics map[string]float64, digits int) {
	for name, v := range metrics {
		if v != math.Trunc(v) {
			metrics[name] = words.Significant(v, digits)
		}
	}
}
