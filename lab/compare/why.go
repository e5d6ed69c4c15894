package compare

// A Why is of what kind of work the difference in CPU a request is, by profiles of all servers that
// were taken after the comparison, in rounds. It decides nothing.
type Why struct {
	Source      string    `json:"source"` // of the profiles: pprof, perf or ticks
	Rounds      int       `json:"rounds"`
	WindowS     float64   `json:"window_s"` // seconds of each server's profile in a round
	Comparisons []Reasons `json:"comparisons"`
}

// Reasons are the kinds of work of one comparison. In each round they add up to All.
type Reasons struct {
	Name  string   `json:"name"`
	Base  string   `json:"base"`
	Says  string   `json:"says"`
	Kinds []Reason `json:"kinds"` // from the largest difference
	All   Reason   `json:"all"`
}

// A Reason is what one kind of work costs a request. Its figures are medians over rounds.
type Reason struct {
	Kind       string  `json:"kind"`
	Base       float64 `json:"base_s"`
	Other      float64 `json:"other_s"`
	Difference float64 `json:"difference_s"`
	Low        float64 `json:"low_s"` // the interval of the median difference, at 95 %
	High       float64 `json:"high_s"`
	// Share of the whole difference; absent where the interval of that or its own holds 0.
	Share float64   `json:"share,omitempty"`
	Each  []float64 `json:"each_s"` // the difference of each round
}

// Shown tells whether the interval of the difference leaves out 0.
func (r Reason) Shown() bool { return r.Low > 0 || r.High < 0 }
