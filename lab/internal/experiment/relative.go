package experiment

import (
	"errors"
	"fmt"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Relative asks for a table: a metric at each level of a factor, over the
// same metric at one of them.
type Relative struct {
	Metric string `toml:"metric"`
	Over   string `toml:"over"`
	To     any    `toml:"to"`
	// OwnWork asks for the same ratios without the client's work on the server's
	// core, which is gauged once a run.
	OwnWork bool `toml:"own_work"`

	to setting.Level
}

// Level is the level that all others are relative to.
func (r *Relative) Level() setting.Level { return r.to }

func (r *Relative) resolve(factors []Factor) (err error) {
	if r == nil {
		return nil
	}
	if _, ok := metric.Lookup(r.Metric); !ok {
		return fmt.Errorf("unknown metric %q; %s", r.Metric, strict.Instead(r.Metric, metric.Names()))
	}
	if r.OwnWork && r.Metric != "server_cpu_per_request_s" {
		return fmt.Errorf("own_work: the client has no part in %s; the metric is server_cpu_per_request_s, or leave "+
			"own_work out", r.Metric)
	}
	i := slices.IndexFunc(factors, func(f Factor) bool { return f.Name == r.Over })
	switch {
	case i < 0:
		return fmt.Errorf("over %q: no factor of that name; %s", r.Over,
			strict.Instead(r.Over, strict.Called(factors, factorName)))
	case r.To == nil:
		return errors.New("to is missing: name the level that the others are relative to")
	}
	if r.to, err = setting.Of(r.To); err != nil {
		return fmt.Errorf("to: %w", err)
	}
	if !slices.Contains(factors[i].levels, r.to) {
		return fmt.Errorf("to: %s is no level of %s; %s", r.to, r.Over,
			strict.Instead(r.to.String(), strict.Called(factors[i].levels, setting.Level.String)))
	}
	return nil
}
