package telemetry

import "github.com/prometheus/procfs"

// on gives the cores on which a side runs, from those of its own.
func (t Targets) on(own []int) []int {
	if len(own) > 0 {
		return own
	}
	return t.shared
}

// Allowed lists the cores that the lab may run on; none where they cannot be read.
func Allowed() (cpus []int) {
	p, err := procfs.Self()
	if err != nil {
		return nil
	}
	st, err := p.NewStatus()
	if err != nil {
		return nil
	}
	for _, c := range st.CpusAllowedList {
		cpus = append(cpus, int(c))
	}
	return cpus
}

// unpinned gives what was stolen of the cores of a side that has none of its
// own. How busy they were says nothing of that side alone, and is left out.
func (d delta) unpinned(m map[string]float64, t Targets) {
	for side, cpus := range map[string][]int{"server": t.ServerCPUs, "client": t.ClientCPUs} {
		if len(cpus) > 0 {
			continue
		}
		seen := map[string]float64{}
		d.cores(seen, t.shared, "busy", "steal")
		if v, ok := seen["steal"]; ok {
			m[side+"_steal"] = v
		}
	}
}
