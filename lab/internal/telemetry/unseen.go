package telemetry

import "slices"

// unseen is what the lab's processes leave of the busy time of some cores, in
// cores. Where processes are hidden, nothing else shows that others ran there.
// Time in interrupts does not count, since most of it is for the load. own is what
// the lab's own processes used of these cores, in cores.
func unseen(all []Core, cpus []int, own float64) float64 {
	busy := 0.0
	for _, c := range all {
		if slices.Contains(cpus, c.CPU) {
			busy += c.User + c.System
		}
	}
	return max(0, busy-own)
}

// ownOf is what the lab and the processes of all pairs may have used of the cores
// of each side between two times, in cores. Where the sides share cores, both
// sides' processes ran on them. It is nil where that of a process is not known.
func (s *Sampler) ownOf(in func([]sample) []sample) map[string]float64 {
	own := map[string]float64{}
	t := s.targets
	shared := slices.ContainsFunc(t.ServerCPUs, func(c int) bool { return slices.Contains(t.ClientCPUs, c) })
	for i, all := range s.samples {
		some := in(all)
		if len(some) < 2 {
			continue
		}
		a, b := some[0], some[len(some)-1]
		seconds := b.at.Sub(a.at).Seconds()
		if i == 0 {
			lab := (b.own - a.own).Seconds() / seconds
			own["server"], own["client"] = lab, lab
		}
		server, known := spent(a.server, b.server, a.uptime)
		client, clientKnown := spent(a.client, b.client, a.uptime)
		if !known && len(b.server) > 0 || !clientKnown && len(b.client) > 0 {
			return nil
		}
		own["server"] += server.Seconds() / seconds
		own["client"] += client.Seconds() / seconds
		if shared {
			own["server"] += client.Seconds() / seconds
			own["client"] += server.Seconds() / seconds
		}
	}
	return own
}
