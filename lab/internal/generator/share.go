package generator

// A Share is what one generator contributed to a target of a merged report: sums over
// the target's counted slots that count in the whole.
type Share struct {
	Slots          int // that it has a part in
	Requests       int64
	Bytes          int64
	Seconds        float64 // that it counted, by its own clock
	ClientCPUS     float64 // of the generator
	BusiestThreadS float64 // sum of each slot's busiest thread
	SilenceS       float64 // the longest
	// LateS is the worst lateness of all its counted slots of the target, also those
	// that failed for it.
	LateS   float64
	Failed  int      // counted slots of the target that failed for this generator
	Latency *Latency // of all that it recorded of the target; nil: nothing
	SendLag *SendLag
}

// Shares tells, for a target of the whole, what each part contributed to the merged
// report, in the order of the parts. A part that does not have the target has an empty
// share. The parts are those that were merged.
func Shares(whole *Plan, merged *Report, parts []Part, target int) []Share {
	shares := make([]Share, len(parts))
	for i := range parts {
		p, sh := &parts[i], &shares[i]
		for own, of := range p.Slots {
			s := &p.Report.Slots[own]
			if whole.Slots[of].Target != target || !whole.Slots[of].Counts {
				continue
			}
			sh.LateS = max(sh.LateS, s.LateS)
			if s.Failed != "" {
				sh.Failed++
			}
			if merged.Slots[of].Failed != "" {
				continue
			}
			sh.Slots++
			sh.Requests += s.Requests
			sh.Bytes += s.Bytes
			sh.Seconds += s.Seconds
			sh.ClientCPUS += s.ClientCPUS
			sh.BusiestThreadS += s.BusiestThreadS
			sh.SilenceS = max(sh.SilenceS, s.SilenceS)
		}
		for own, of := range p.Targets {
			if of == target {
				t := &p.Report.Summary.Targets[own]
				sh.Latency, sh.SendLag = t.Latency, t.SendLag
			}
		}
	}
	return shares
}
