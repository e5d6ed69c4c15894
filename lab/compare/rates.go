package compare

// A Curve is the latency of servers at rates that do not wait for them. The plan fixes when each
// request is due before it sends the first, and latency counts from then.
type Curve struct {
	// ClosedLoopRPS is the lowest throughput of the servers in a closed loop, measured in the same
	// run, and Slowest is whose it is. Rates may be shares of that.
	ClosedLoopRPS float64 `json:"closed_loop_rps,omitempty"`
	Slowest       string  `json:"slowest,omitempty"`
	SlotS         float64 `json:"slot_s"` // seconds at one rate in one block
	Blocks        int     `json:"blocks"`
	Points        []Point `json:"points"` // by rate, then in the servers' order
}

// A Point is one server at one rate. A percentile is absent if too few requests lie beyond it, and
// all are if the point is refused.
type Point struct {
	Server  string   `json:"server"`
	RateRPS float64  `json:"rate_rps"`
	P50     *Latency `json:"latency_p50_s,omitempty"`
	P90     *Latency `json:"latency_p90_s,omitempty"`
	P99     *Latency `json:"latency_p99_s,omitempty"`
	P999    *Latency `json:"latency_p999_s,omitempty"`
	Refused string   `json:"refused,omitempty"` // the reason for a refusal
}

// Percentiles are those of a point, from the lowest: p50, p90, p99, p999.
func (p *Point) Percentiles() [4]**Latency { return [4]**Latency{&p.P50, &p.P90, &p.P99, &p.P999} }

// A Latency is a percentile in seconds, of the median block. Low and High are the confidence
// sequence of that median; both are absent while there are too few blocks.
type Latency struct {
	Seconds float64 `json:"s"`
	Low     float64 `json:"low_s,omitempty"`
	High    float64 `json:"high_s,omitempty"`
}
