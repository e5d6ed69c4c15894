package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Part is one of the runs that a combined Outcome rests on.
type Part struct {
	File        string       `json:"file"`
	Machine     string       `json:"machine"`
	StartedAt   string       `json:"started_at"`
	DurationS   float64      `json:"duration_s"`
	Blocks      int          `json:"blocks"`
	Comparisons []Comparison `json:"comparisons"` // what that run says alone
}

// Combine makes one outcome of several runs of one comparison, on as many machines or at as many
// times. It multiplies the e-values of each answer, so the error of the whole is still one in
// twenty, if the runs are independent: what a run will say may not depend on what another has
// said, and none that was made may be left out. A run whose control did not agree may lower a
// product and never raise it. Combine refuses runs that asked something else, compared other
// servers, or are one run twice.
func Combine(files []string, runs []*Outcome) (*Outcome, error) {
	if len(runs) < 2 || len(files) != len(runs) {
		return nil, fmt.Errorf("compare: %d runs; name the files of two or more", len(runs))
	}
	first := runs[0]
	for i, o := range runs {
		for j, field := range o.question() {
			if was := first.question()[j]; was != field {
				return nil, fmt.Errorf("%s: %s is %s, and in %s it is %s; combine runs of one comparison", files[i], field.name,
					cmp.Or(field.value, "absent"), files[0], cmp.Or(was.value, "absent"))
			}
		}
		if j := slices.IndexFunc(runs[:i], func(p *Outcome) bool {
			return p.Seed == o.Seed && p.StartedAt == o.StartedAt
		}); j >= 0 {
			return nil, fmt.Errorf("%s: the same run as %s; each counts once", files[i], files[j])
		}
	}
	out := &Outcome{SchemaVersion: Version, Unit: first.Unit, Path: first.Path, Asked: first.Asked, NewEach: first.NewEach,
		Protocol: first.Protocol, Connections: first.Connections, Pipelining: first.Pipelining, RateRPS: first.RateRPS, LineRateBps: first.LineRateBps, Margin: first.Margin, FailAbove: first.FailAbove,
		Confidence: first.Confidence, WarmupS: first.WarmupS, Lab: first.Lab, StartedAt: first.StartedAt,
		Machine: fmt.Sprintf("%d runs together", len(runs)), Says: []string{}, Comparisons: []Comparison{}}
	for _, s := range first.Servers {
		out.Servers = append(out.Servers, Measured{Name: s.Name, Command: s.Command, SHA256: s.SHA256, Revision: s.Revision,
			Bound: "unknown"})
	}
	for i, o := range runs {
		out.DurationS, out.Blocks = out.DurationS+o.DurationS, out.Blocks+o.Blocks
		out.Trials, out.Refused = out.Trials+o.Trials, out.Refused+o.Refused
		out.Parts = append(out.Parts, Part{File: files[i], Machine: o.Machine, StartedAt: o.StartedAt, DurationS: o.DurationS,
			Blocks: o.Blocks, Comparisons: o.Comparisons})
	}
	level := (1 - first.Confidence) / float64(max(1, len(first.Comparisons)))
	for n, c := range first.Comparisons {
		all := Comparison{Name: c.Name, Base: c.Base}
		all.combine(out, n, level)
		all.Says = out.In(all.Says)
		out.Comparisons, out.Says = append(out.Comparisons, all), append(out.Says, all.Says)
	}
	out.Notes = []string{"one verdict over all, if the runs are independent of each other and none was left out"}
	out.Exit = out.Status()
	return out, nil
}

// A field is one thing in which runs of one comparison agree.
type field struct{ name, value string }

// question is what was asked, and of which servers.
func (o *Outcome) question() []field {
	f := []field{{"schema_version", fmt.Sprint(o.SchemaVersion)}, {"lab", o.Lab}, {"unit", o.Unit}, {"path", o.Path},
		{"requests", fmt.Sprint(o.Asked, o.NewEach)}, {"protocol", o.Protocol},
		{"connections", fmt.Sprint(o.Connections)}, {"pipelining", fmt.Sprint(o.Pipelining)}, {"rate_rps", fmt.Sprint(o.RateRPS)},
		{"line_rate_bps", fmt.Sprint(o.LineRateBps)}, {"margin", fmt.Sprint(o.Margin)}, {"fail_above", fmt.Sprint(o.FailAbove)},
		{"confidence", fmt.Sprint(o.Confidence)}, {"warmup_s", fmt.Sprint(o.WarmupS)}}
	var servers, built, compared []string
	for _, s := range o.Servers {
		servers = append(servers, strings.Join(append([]string{s.Name + "=" + s.URL}, s.Command...), " "))
		// The builds of one revision need not have the same bytes on two machines.
		built = append(built, cmp.Or(s.Revision, s.SHA256))
	}
	for _, c := range o.Comparisons {
		compared = append(compared, c.Name+" with "+c.Base)
	}
	return append(f, field{"servers", strings.Join(servers, "; ")}, field{"the revision or sha256 of the servers",
		strings.Join(built, ", ")}, field{"comparisons", strings.Join(compared, ", ")})
}

// add adds the evidence of a further run; nil is that of a run that told nothing.
func (e *Evidence) add(run *Evidence) {
	if run == nil {
		return
	}
	// Whether a control agrees may go with what the run says. Its e-value still gains nothing on
	// average if it counts only where it is below 1.
	of := func(log float64) float64 {
		if run.Agreed {
			return log
		}
		return math.Min(log, 0)
	}
	bar := func(sum, log *float64) *float64 {
		if log == nil {
			return sum
		}
		v := of(*log)
		if sum != nil {
			v += *sum
		}
		return &v
	}
	e.Agreed = e.Agreed || run.Agreed
	e.More, e.Less = e.More+of(run.More), e.Less+of(run.Less)
	e.AtMost, e.AtLeast = e.AtMost+of(run.AtMost), e.AtLeast+of(run.AtLeast)
	e.Above, e.NotAbove = bar(e.Above, run.Above), bar(e.NotAbove, run.NotAbove)
}

// combine gives the verdict of all runs of an outcome on its nth comparison, and says it.
func (c *Comparison) combine(o *Outcome, n int, level float64) {
	e, told := &Evidence{}, []float64{}
	for _, p := range o.Parts {
		run := p.Comparisons[n]
		if e.add(run.Evidence); run.Evidence != nil && run.Evidence.Agreed && run.CPUPerRequest != nil {
			told = append(told, run.CPUPerRequest.Ratio)
		}
	}
	if len(told) == 0 {
		c.Verdict = Invalid
		c.Says = fmt.Sprintf("no verdict: none of %d runs tells of cost with a control that agreed", len(o.Parts))
		return
	}
	c.Evidence, c.Verdict, c.Above = e, e.Judge(level), e.Against(level)
	c.Says = map[Verdict]string{
		Dearer:    fmt.Sprintf("%s costs more CPU a request than %s", c.Name, c.Base),
		Cheaper:   fmt.Sprintf("%s costs less CPU a request than %s", c.Name, c.Base),
		Same:      fmt.Sprintf("%s costs the same CPU a request as %s, within %.10g %%", c.Name, c.Base, 100*o.Margin),
		Undecided: fmt.Sprintf("not decided: whether %s costs more CPU a request than %s", c.Name, c.Base),
	}[c.Verdict] + fmt.Sprintf("; %d of %d runs tell, and their medians are %s to %s", len(told), len(o.Parts),
		end(slices.Min(told), math.Floor), end(slices.Max(told), math.Ceil))
	switch c.Above {
	case AboveYes:
		c.Says += fmt.Sprintf("; it is above × %v", o.FailAbove)
	case AboveOpen:
		c.Says += fmt.Sprintf("; whether it is above × %v is not decided", o.FailAbove)
	}
}
