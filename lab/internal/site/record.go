package site

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Record is the whole record at a glance.
type Record struct {
	Title    string  `json:"title"` // as "199 claims, on 2 machines"
	Tallies  []Tally `json:"tallies"`
	Compared *Table  `json:"compared,omitempty"` // each claim that compares, against its band, by its ratio
	Others   *Table  `json:"others"`             // values, bottlenecks, and what has no ratio yet
	Checks   *Table  `json:"checks,omitempty"`   // of arithmetic, which are no findings
}

// A Tally counts the verdicts on the claims of one owner.
type Tally struct {
	Title  string    `json:"title"` // as "44 claims of texts"
	Bar    []Stroke  `json:"bar"`
	Counts []Counted `json:"counts"`
}

// A Counted is how often there is a verdict; an empty one is that nothing was run.
type Counted struct {
	Verdict verdict.Verdict `json:"verdict,omitempty"`
	N       int             `json:"n"`
}

// order is that of verdicts in a tally.
var order = []verdict.Verdict{verdict.Confirmed, verdict.Refuted, verdict.Open, verdict.NotApplicable, ""}

// count counts verdicts, without those that no claim has.
func count(claims []claimPage) (out []Counted) {
	for _, v := range order {
		if n := strict.Count(claims, func(c claimPage) bool { return c.Verdict == v }); n > 0 {
			out = append(out, Counted{v, n})
		}
	}
	return out
}

// claims lists those of some experiments.
func (s *Site) claims(experiments []string) (all []claimPage) {
	for _, name := range experiments {
		if p := s.x[name]; p != nil {
			all = append(all, p.Claims...)
		}
	}
	return all
}

// record sums up all claims.
func (s *Site) record() Record {
	names := strict.Map(s.Experiments, func(x *experiment.Experiment) string { return x.Name })
	all, machines := s.claims(names), map[string]bool{}
	for _, of := range s.evidence {
		for id := range of {
			machines[id] = true
		}
	}
	r := Record{Title: words.Count(len(all), "claim") + ", on " + words.Count(len(machines), "machine")}
	for _, of := range []struct {
		owner     experiment.Owner
		one, many string
	}{
		{experiment.Series, "claim of a text that the journal tests", "claims of texts that the journal tests"},
		{experiment.Journal, "claim of the journal’s own", "claims of the journal’s own"},
		{experiment.Control, "control of the lab itself", "controls of the lab itself"},
		{experiment.Check, "check of arithmetic, which is no finding", "checks of arithmetic, which are no findings"},
	} {
		owned := strict.Filter(all, func(c claimPage) bool { return c.Owner == of.owner })
		if len(owned) == 0 {
			continue
		}
		t := Tally{Title: words.Count(len(owned), of.one, of.many), Counts: count(owned)}
		from := 0.0
		for _, c := range t.Counts {
			to := from + 100*float64(c.N)/float64(len(owned))
			t.Bar = append(t.Bar, Stroke{"part-" + cmp.Or(string(c.Verdict), "none"), fmt.Sprintf("M%v 10H%v", tenth(from), tenth(to))})
			from = to
		}
		r.Tallies = append(r.Tallies, t)
	}
	compared := rows{caption: "Each comparison that decides a claim, by its ratio", head: "Ratio", last: "Verdict",
		scale: scale{0.2, 5, true}, rules: []float64{1}}
	r.Others = &Table{Class: "cards", Caption: "Claims without a ratio", Heads: heads("Claim", "Verdict")}
	checks := &Table{Class: "cards", Caption: "Checks", Heads: heads("Claim", "Verdict")}
	for _, x := range s.Experiments {
		for _, c := range s.x[x.Name].Claims {
			e := deciding(verdict.Claim{Effects: c.Effects})
			cell := Cell{Head: true, Text: c.Text, To: "claims/" + x.Name + "/#" + c.ID}
			plain := Row{Cells: []Cell{cell, {Verdict: c.Verdict, Text: map[verdict.Verdict]string{"": "not run yet"}[c.Verdict],
				Below: words.UpperFirst(c.Reason)}}}
			switch one := ratio(e); {
			case c.Owner == experiment.Check:
				checks.Rows = append(checks.Rows, plain)
			case one.at == nil && one.ends == nil:
				r.Others.Rows = append(r.Others.Rows, plain)
			default:
				one.first, one.verdict = &cell, c.Verdict
				compared.all = append(compared.all, one)
			}
		}
	}
	place := func(r row) float64 { // for the middle of a ratio's interval
		if r.at != nil {
			return *r.at
		}
		return math.Sqrt(max(r.ends[0], 0.01) * min(r.ends[1], 100))
	}
	slices.SortStableFunc(compared.all, func(a, b row) int { return cmp.Compare(place(a), place(b)) })
	if r.Compared = compared.draw("record"); checks.Rows != nil {
		r.Checks = checks
	}
	return r
}

// ledger has one line for each claim and machine; a claim that no machine measured has a line without one.
func (s *Site) ledger() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	// Writing to a buffer cannot fail by itself; Error reports anything else.
	_ = w.Write([]string{"entry", "experiment", "claim", "kind", "whose", "text", "host", "run", "verdict", "blocks",
		"for", "against", "ratio", "low", "high"})
	for _, x := range s.Experiments {
		for _, c := range s.x[x.Name].Claims {
			head := []string{x.Entry, x.Name, c.ID, c.Kind, string(c.Owner), c.Text}
			if len(c.on) == 0 {
				_ = w.Write(strict.Cells(append(head, make([]string, 9)...)))
			}
			for _, id := range slices.Sorted(maps.Keys(c.on)) {
				on := c.on[id]
				line := append(head[:len(head):len(head)], id, s.evidence[x.Name][id].Run, string(on.Verdict), strconv.Itoa(on.Blocks),
					strconv.Itoa(on.For), strconv.Itoa(on.Against))
				e := deciding(on)
				for _, v := range []float64{e.Ratio, e.Low, e.High} {
					cell := ""
					if v > 0 {
						cell = strconv.FormatFloat(v, 'g', -1, 64)
					}
					line = append(line, cell)
				}
				_ = w.Write(strict.Cells(line))
			}
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// listMachines lists the machines, those that measured first, as a plain table.
func (s *Site) listMachines() *Table {
	t := &Table{Class: "figures cards", Caption: "Machines and what is known of them", Heads: heads("Machine", "CPU", "Cores", "Memory",
		"System", "Interface", "Line rate", "Runs", "Decided")}
	for _, id := range slices.Sorted(maps.Keys(s.Hosts)) {
		h := s.Hosts[id]
		runs := strict.Count(s.Runs, func(r *results.File) bool { return r.Hosts.Server == id })
		decided, asked := 0, 0
		for _, x := range s.x {
			for _, c := range x.Claims {
				on, has := c.on[id]
				if has {
					asked++
				}
				if on.Verdict == verdict.Confirmed || on.Verdict == verdict.Refuted {
					decided++
				}
			}
		}
		nic, score := h.NIC, ""
		if h.NICQueues > 0 {
			nic += ", " + words.Count(h.NICQueues, "queue")
		}
		if asked > 0 {
			score = fmt.Sprintf("%d of %s", decided, words.Count(asked, "claim"))
		}
		t.Rows = append(t.Rows, Row{ID: id, Cells: []Cell{{Head: true, Text: s.machines[id], To: "#" + id, Below: h.Note},
			{Text: h.CPU, Note: strings.TrimSpace(h.CPUVersion + " " + h.Arch), Below: h.Caches},
			{Text: known("", float64(h.Cores)), Note: map[string]string{"yes": "virtual"}[h.Virtual]},
			{Text: known("B", float64(h.MemoryBytes))}, {Text: strings.TrimSpace(h.OS + " " + h.Kernel)}, {Text: nic},
			{Text: known("bit/s", h.LineRateBps)}, {Text: known("", float64(runs))}, {Text: score}}})
	}
	slices.SortStableFunc(t.Rows, func(a, b Row) int { // "" comes last
		return cmp.Compare(len(b.Cells[7].Text), len(a.Cells[7].Text))
	})
	return t
}

// known prints a figure that is absent where it is not known.
func known(unit string, v float64) string {
	if v == 0 {
		return ""
	}
	return words.Figure(unit, v)
}
