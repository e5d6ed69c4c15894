package results

import "math"

// Slots are the turns of a trial, in columns with one entry a slot, in the
// order of time. The counted time of a slot begins when each connection has had
// its first answer. All figures but FillS cover the counted time.
type Slots struct {
	AtS        []float64 `json:"at_s" jsonschema:"description=When what counts began: seconds since the run began\\, by the monotonic clock."`
	DurationS  []float64 `json:"duration_s" jsonschema:"description=Length of what counts."`
	FillS      []float64 `json:"fill_s" jsonschema:"description=From the first request of the slot to where what counts begins."`
	Requests   []int64   `json:"requests" jsonschema:"description=Answers that came within what counts."`
	ServerCPUS []float64 `json:"server_cpu_s" jsonschema:"description=CPU time of the server's processes by their CPU clocks."`
	ClientCPUS []float64 `json:"client_cpu_s" jsonschema:"description=CPU time of the load generator; on a fleet of all of them."`
	IdleCPUS   []float64 `json:"idle_servers_cpu_s" jsonschema:"description=CPU time of all the other servers of the block together\\, none of which was loaded."`
	TxBytes    []int64   `json:"wire_tx_bytes,omitempty" jsonschema:"description=Bytes on the wire from server to client."`
	RxBytes    []int64   `json:"wire_rx_bytes,omitempty" jsonschema:"description=Bytes on the wire from client to server."`
}

// A Setup has the values that the shares of slots are relative to. A value of 0
// is unknown, and its share is left out.
type Setup struct {
	SlotS                    float64 // asked length of a slot, in seconds
	ServerCores, ClientCores int
	LineRateBps              float64
	Clients                  []Client // of a fleet; nil without one
}

// Metrics computes a trial's figures from its slots, each rounded by Round. The
// run records these, and Check compares a file with them.
func (s *Slots) Metrics(on Setup) map[string]float64 {
	duration, requests, server := sum(s.DurationS), float64(sum(s.Requests)), sum(s.ServerCPUS)
	client, idle := sum(s.ClientCPUS), sum(s.IdleCPUS)
	m := map[string]float64{"requests": requests, "duration_s": duration, "server_cpu_s": server, "slots": float64(len(s.Requests))}
	if len(s.Requests) > 0 {
		least, off, busiest := s.Requests[0], 0.0, 0.0
		for i, n := range s.Requests {
			least = min(least, n)
			off = max(off, math.Abs(s.DurationS[i]-on.SlotS))
			if s.DurationS[i] > 0 {
				busiest = max(busiest, s.ServerCPUS[i]/s.DurationS[i])
			}
		}
		m["slot_requests_least"] = float64(least)
		if on.SlotS > 0 {
			m["slot_off_s"] = off
		}
		if on.ServerCores > 0 {
			m["slot_server_busy_max"] = busiest / float64(on.ServerCores)
		}
	}
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
	Fullest(m, on.Clients)
	Round(m)
	return m
}

// Round rounds the slots' times to the file's precision: microseconds for
// moments and durations, nanoseconds for CPU. Metrics are computed from the
// rounded times.
func (s *Slots) Round() {
	for _, c := range [][]float64{s.AtS, s.DurationS, s.FillS} {
		for i, v := range c {
			c[i] = math.Round(v*1e6) / 1e6
		}
	}
	for _, c := range [][]float64{s.ServerCPUS, s.ClientCPUS, s.IdleCPUS} {
		for i, v := range c {
			c[i] = math.Round(v*1e9) / 1e9
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
