package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// checkReasons refuses a reason of an invalid trial whose gate the trial's own
// figures leave open. Otherwise a block that speaks against a claim could be
// called disturbed.
func (f *file) checkReasons(i int, a gate.Asked) error {
	t := f.Trials[i]
	for k, r := range t.Reasons {
		if !closes(gate.Hold(r.Gate, t.Metrics, a)) && !f.unrecorded(t, r, a) {
			return fmt.Errorf("/trials/%d/reasons/%d: %q, but the trial's own figures leave that gate open; keep it as it "+
				"was measured", i, k, r.Gate)
		}
	}
	return nil
}

func closes(found []gate.Finding) bool {
	return slices.ContainsFunc(found, func(g gate.Finding) bool { return !g.Missing() })
}

// unrecorded reports whether a gate may have closed on something that no results
// file holds. Where a trial broke off, the evidence is that it has no figures.
func (f *file) unrecorded(t results.Trial, r results.Reason, a gate.Asked) bool {
	_, answered := t.Metrics["throughput_rps"]
	// Profiles are taken in a window of its own, whose load leaves no figures.
	profiled := f.design.Profile != nil
	inWindow := profiled && strings.HasPrefix(r.Detail, "in the profiled window: ")
	switch r.Gate {
	case gate.Mismatches, gate.WrongAnswer, gate.Stopped, gate.HeldUp, gate.Misreport:
		return true
	case gate.ProfileFailed, gate.ProfileApart:
		return profiled
	case gate.ServerExited, gate.ClientFailed, gate.ClientHung:
		return !answered || profiled
	case gate.LostWorker: // the rule holds servers with a known number of workers
		seen := gate.Hold(r.Gate, t.Metrics, a)
		return !answered || profiled || a.Workers == 0 || slices.Contains(a.Claimed, "workers") || len(seen) > 0
	case gate.Non2xx, gate.Errors, gate.Timeouts, gate.Resets: // the lab's own requests beside a load in one piece
		return t.Slots == nil || inWindow
	case gate.NoRequests: // in one of the slots
		return closes(gate.Hold(gate.Slot, t.Metrics, a)) || inWindow
	case gate.NoTelemetry: // a figure that another gate needs, or a body to compare
		return t.Slots == nil || t.Metrics["non_2xx"] > 0 ||
			slices.ContainsFunc(gate.Judge(t.Metrics, a), gate.Finding.Missing)
	}
	return false
}

// checkGates judges each trial again by its recorded figures: they may close no
// gate on a valid trial, and have to close those that an invalid one names. A
// valid trial may lack figures: older labs did not record all of them.
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
	fastest := f.Calibrations()
	for i, t := range f.Trials {
		a := asked[t.Condition]
		a.ReferenceS = fastest[t.Block]
		if !t.Valid {
			if err := f.checkReasons(i, a); err != nil {
				return err
			}
			continue
		}
		for _, found := range gate.Judge(t.Metrics, a) {
			if !found.Missing() {
				return fmt.Errorf("/trials/%d/metrics/%s: %s, and so the gate %s makes the trial invalid; it is called valid", i,
					found.Metric, found.Detail, found.Gate)
			}
		}
	}
	return nil
}
