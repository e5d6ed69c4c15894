// Package slots holds the turns of a trial in columns, and what follows from them.
package slots

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/line-rate/line-rate/lab/internal/words"
)

// Slots are the turns of a trial, in columns with one entry a slot, in the
// order of time. The counted time of a slot begins when each connection has had
// its first answer. All figures but FillS cover the counted time.
type Slots struct {
	AtS, DurationS, FillS            []float64
	Requests                         []int64
	ServerCPUS, ClientCPUS, IdleCPUS []float64
	TxBytes, RxBytes                 []int64
}

// Passed counts what has left the wire's shapers: tx from server to client, rx from client to server.
// A shaper charges each segment with its headers, which the interface's own counters miss.
type Passed struct{ TxBytes, TxPackets, RxBytes, RxPackets, Drops int64 }

// Since is what has passed since another reading.
func (p Passed) Since(before Passed) Passed {
	return Passed{p.TxBytes - before.TxBytes, p.TxPackets - before.TxPackets, p.RxBytes - before.RxBytes,
		p.RxPackets - before.RxPackets, p.Drops - before.Drops}
}

// The text of slots has a row for each, of whole numbers. All times are in microseconds:
// when what counts began, since the run began; its length; the time from the slot's first
// request to there; answers within what counts; CPU time of the server, of the load
// generator, and of all other servers of the block together; and over a wire the bytes from
// server to client and from client to server.
const (
	rowAt = iota
	rowDuration
	rowFill
	rowRequests
	rowServer
	rowClient
	rowIdle
	rowTx
	rowRx
	rowLength
)

// MarshalJSON writes the rows.
func (s Slots) MarshalJSON() ([]byte, error) {
	rows := [][]int64{}
	for i := range s.AtS {
		row := []int64{
			rowAt: micros(s.AtS[i]), rowDuration: micros(s.DurationS[i]), rowFill: micros(s.FillS[i]),
			rowRequests: s.Requests[i],
			rowServer:   micros(s.ServerCPUS[i]), rowClient: micros(s.ClientCPUS[i]), rowIdle: micros(s.IdleCPUS[i]),
		}
		if s.TxBytes != nil {
			row = append(row, s.TxBytes[i], s.RxBytes[i])
		}
		rows = append(rows, row)
	}
	return json.Marshal(rows)
}

// UnmarshalJSON reads the rows.
func (s *Slots) UnmarshalJSON(text []byte) error {
	var rows [][]int64
	if err := json.Unmarshal(text, &rows); err != nil {
		return err
	}
	*s = Slots{}
	for i, row := range rows {
		if n := len(row); n != rowTx && n != rowLength || n != len(rows[0]) {
			return fmt.Errorf("slot %d has %d numbers; each has %d, and over a wire %d", i, n, rowTx, rowLength)
		}
		s.AtS, s.DurationS, s.FillS = append(s.AtS, seconds(row[rowAt])), append(s.DurationS, seconds(row[rowDuration])),
			append(s.FillS, seconds(row[rowFill]))
		s.Requests = append(s.Requests, row[rowRequests])
		s.ServerCPUS, s.ClientCPUS, s.IdleCPUS = append(s.ServerCPUS, seconds(row[rowServer])),
			append(s.ClientCPUS, seconds(row[rowClient])), append(s.IdleCPUS, seconds(row[rowIdle]))
		if len(row) == rowLength {
			s.TxBytes, s.RxBytes = append(s.TxBytes, row[rowTx]), append(s.RxBytes, row[rowRx])
		}
	}
	return nil
}

func micros(seconds float64) int64 { return int64(math.Round(seconds * 1e6)) }

func seconds(micros int64) float64 { return float64(micros) / 1e6 }

// A Setup has the values that the shares of slots are relative to. A value of 0
// is unknown, and its share is left out.
type Setup struct {
	ServerCores, ClientCores int
	LineRateBps              float64
}

// Metrics computes a trial's figures from its slots, each rounded.
func (s *Slots) Metrics(on Setup) map[string]float64 {
	duration, requests, server := sum(s.DurationS), float64(sum(s.Requests)), sum(s.ServerCPUS)
	client, idle := sum(s.ClientCPUS), sum(s.IdleCPUS)
	m := map[string]float64{"requests": requests, "duration_s": duration, "server_cpu_s": server}
	if requests > 0 {
		m["server_cpu_per_request_s"], m["client_cpu_per_request_s"] = server/requests, client/requests
	}
	if duration > 0 {
		m["throughput_rps"], m["idle_servers_busy"] = requests/duration, idle/duration
		if on.ServerCores > 0 {
			m["server_cores_busy"] = server / duration / float64(on.ServerCores)
		}
		if on.ClientCores > 0 {
			m["client_cores_busy"] = client / duration / float64(on.ClientCores)
		}
		if len(s.TxBytes) > 0 {
			m["wire_tx_bps"], m["wire_rx_bps"] = 8*float64(sum(s.TxBytes))/duration, 8*float64(sum(s.RxBytes))/duration
			if on.LineRateBps > 0 {
				m["line_rate_share"] = max(m["wire_tx_bps"], m["wire_rx_bps"]) / on.LineRateBps
			}
		}
	}
	RoundFollowing(m)
	return m
}

// Round rounds the slots' times to the file's precision, microseconds. Metrics are
// computed from the rounded times.
func (s *Slots) Round() {
	for _, c := range [][]float64{s.AtS, s.DurationS, s.FillS, s.ServerCPUS, s.ClientCPUS, s.IdleCPUS} {
		for i, v := range c {
			c[i] = seconds(micros(v))
		}
	}
}

func sum[T int64 | float64](column []T) T {
	var all T
	for _, v := range column {
		all += v
	}
	return all
}

// What was counted has six significant digits, more than the lab's clocks, ticks and
// histograms resolve; what follows from it has nine. Whole numbers are exact.
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
