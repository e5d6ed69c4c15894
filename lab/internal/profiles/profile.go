package profiles

// A Profile is one kind of profile of a trial's profiled window, of all the
// server's processes together. Shares are of the total.
type Profile struct {
	Kind      Kind    `json:"kind" jsonschema:"enum=cpu,enum=mutex,enum=block,enum=heap,enum=goroutine,enum=allocs"`
	Unit      string  `json:"unit,omitempty" jsonschema:"enum=s,enum=B,enum=count,description=Left out of a results file\\, since it is that of the kind."`
	Total     float64 `json:"total,omitempty" jsonschema:"minimum=0,description=All samples together, in the unit; absent where nothing was sampled or a text does not say."`
	Events    float64 `json:"events,omitempty" jsonschema:"description=What was counted: samples of a CPU profile, waits of mutex and block, objects of heap and allocs."`
	Stacks    int     `json:"stacks,omitempty" jsonschema:"description=Different stacks among the samples."`
	DurationS float64 `json:"duration_s,omitempty" jsonschema:"description=Length of the window; absent for a profile of one moment."`
	// Work and Packages each cover every sample: what is missing there was not in
	// the profile. So a claim can say that something is gone.
	Work     map[string]float64 `json:"work,omitempty" jsonschema:"description=Share by kind of work; each sample has one kind."`
	Packages map[string]float64 `json:"packages" jsonschema:"description=Share of the samples that have the package anywhere on their stack; a module's packages and major versions count as one."`
}
