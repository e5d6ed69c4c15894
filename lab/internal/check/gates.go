package check

import (
	"fmt"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// checkGates judges each valid trial again by its recorded figures, which may close no
// gate. It may lack figures: older labs did not record all of them.
func (f *file) checkGates() error {
	p := f.Provenance
	serverCores := 0
	if p.ServerCPUs != "" {
		cpus, err := cores.Parse(p.ServerCPUs)
		if err != nil {
			return fmt.Errorf("/provenance/server_cpus: %w", err)
		}
		serverCores = len(cpus)
	}
	asked := map[string]gate.Asked{}
	for _, c := range f.Conditions {
		asked[c.ID] = results.Asked(f.design, f.Settings.With(c.Levels), serverCores, p.Block.WindowS())
	}
	for i, t := range f.Trials {
		a := asked[t.Condition]
		if !t.Valid {
			continue
		}
		for _, found := range gate.Judge(t.Metrics, a) {
			if found.Gate != gate.NoTelemetry {
				return fmt.Errorf("/trials/%d/metrics/%s: %s, and so the gate %s makes the trial invalid; it is called valid", i,
					found.Metric, found.Detail, found.Gate)
			}
		}
	}
	return nil
}
