package profiles

// A Profile is one kind of profile of a trial's profiled window, of all the
// server's processes together. Shares are of the total.
type Profile struct {
	Kind      Kind    `json:"kind"`
	Unit      string  `json:"unit,omitempty"`
	Total     float64 `json:"total,omitempty"`
	Events    float64 `json:"events,omitempty"`
	Stacks    int     `json:"stacks,omitempty"`
	DurationS float64 `json:"duration_s,omitempty"`
	// Work and Packages each cover every sample: what is missing there was not in
	// the profile. So a claim can say that something is gone.
	Work     map[string]float64 `json:"work,omitempty"`
	Packages map[string]float64 `json:"packages"`
}
