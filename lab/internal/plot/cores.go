package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/draw"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// cores are those of one trial per condition, the one with the median throughput among those that
// count; a mean over trials would show a core that no trial had.
func (b *Book) cores(f Figure, runs []Run) (string, error) {
	if f.Entry != "" {
		return b.printedCores(f)
	}
	var charts []string
	for i, r := range runs {
		chart := draw.Cores{Frame: f.frame(i, b.caption(r))}
		chart.XLabel = "Share of a core’s time, %"
		rows, _ := r.rows(f.Levels, "throughput_rps")
		var said []string
		for _, c := range rows {
			t, ok := r.middle(c.ID)
			if !ok {
				continue
			}
			bound := strings.ReplaceAll(string(t.Bound), "+", " + ")
			name := fmt.Sprintf("%s: trial %d, block %d, bound %s", c.Name, t.Seq, t.Block, bound)
			group := draw.Group[draw.Core]{Name: name, Rows: r.coresOf(t)}
			for _, row := range group.Rows[:min(16, len(group.Rows))] {
				said = append(said, fmt.Sprintf("%s, %s.", c.Name, row.Text))
			}
			chart.Groups = append(chart.Groups, group)
		}
		if len(chart.Groups) > 0 {
			chart.Desc = strings.Join(said, " ")
			charts = append(charts, draw.Named(b.caption(r), chart.SVG()))
		}
	}
	if len(charts) == 0 {
		return "", nil
	}
	how := "For each condition, the trial that is the middle one by throughput of those that count. " +
		"Cores have their side and their number."
	return draw.Box(f.Name, f.Title, f.note(how), charts, true), nil
}

// middle is the trial of a condition with the median throughput, of those that count.
func (r Run) middle(condition string) (t results.Trial, ok bool) {
	mine := strict.Filter(r.Results.Trials, func(t results.Trial) bool {
		return t.Condition == condition && t.Valid && len(t.Cores) > 0
	})
	if len(mine) == 0 {
		return t, false
	}
	slices.SortStableFunc(mine, func(a, b results.Trial) int {
		return cmp.Compare(a.Metrics["throughput_rps"], b.Metrics["throughput_rps"])
	})
	return mine[(len(mine)-1)/2], true
}

// coresOf lists the cores of a trial, the server's first, then the client's.
func (r Run) coresOf(t results.Trial) (out []draw.Core) {
	var server, client []int
	if p := r.Results.Provenance; p != nil {
		server, _ = cores.Parse(p.ServerCPUs)
		client, _ = cores.Parse(p.ClientCPUs)
	}
	order := map[string]int{"server": 0, "client": 1, "both": 2, "neither": 2}
	side := func(cpu int) string {
		serves, loads := slices.Contains(server, cpu), slices.Contains(client, cpu)
		switch {
		case serves && loads, len(server) == 0 && len(client) == 0:
			return "both"
		case serves:
			return "server"
		case loads:
			return "client"
		}
		return "neither"
	}
	list := slices.Clone(t.Cores)
	slices.SortStableFunc(list, func(a, b results.Core) int {
		return cmp.Or(cmp.Compare(order[side(a.CPU)], order[side(b.CPU)]), cmp.Compare(a.CPU, b.CPU))
	})
	for _, c := range list {
		row := draw.Core{Label: fmt.Sprintf("%s %d", side(c.CPU), c.CPU), Side: side(c.CPU)}
		var said []string
		for _, s := range []draw.State{
			{Kind: "user", Share: c.User, Name: "user"}, {Kind: "system", Share: c.System, Name: "system"},
			{Kind: "softirq", Share: c.SoftIRQ, Name: "soft"}, {Kind: "steal", Share: c.Steal, Name: "stolen"},
			{Kind: "idle", Share: c.Idle, Name: "idle"},
		} {
			if s.Share > 0 {
				s.Shown = fmt.Sprintf("%.0f %%", 100*s.Share)
				row.States = append(row.States, s)
				said = append(said, s.Name+" "+s.Shown)
			}
		}
		row.Text = fmt.Sprintf("core %d, %s: %s", c.CPU, row.Side, strings.Join(said, ", "))
		out = append(out, row)
	}
	return out
}

// printedCores are the states that a text printed, one bar per side, the rest of the whole, and a
// note for a side that the text does not mention.
func (b *Book) printedCores(f Figure) (string, error) {
	frame := draw.Frame{ID: f.Name, Title: f.Title, XLabel: "Share of time, %"}
	chart := draw.Cores{Frame: frame, Groups: []draw.Group[draw.Core]{{}}}
	var all []string
	for _, side := range []struct {
		name string
		ids  []string
	}{{"server", f.Server}, {"client", f.Client}} {
		row, rest := draw.Core{Label: side.name, Side: side.name}, 1.0
		for _, id := range side.ids {
			a := b.Audits[f.Entry]
			if a == nil || a.Figures[id].Printed == "" {
				return "", fmt.Errorf("derived/data/audits/%s.json has no figure %q", f.Entry, id)
			}
			state := id[strings.LastIndex(id, "_")+1:]
			if state == "soft" {
				state = "softirq"
			}
			is := a.Figures[id]
			row.States = append(row.States, draw.State{Kind: state, Share: is.Value, Name: state, Shown: is.Printed})
			rest -= is.Value
		}
		if rest > 0.005 && len(row.States) > 0 {
			row.States = append(row.States, draw.State{Kind: "unsaid", Share: rest, Name: "not said",
				Shown: words.Plain(math.Round(1000*rest)*0.1) + "\u00a0%"})
		}
		said := strict.Map(row.States, func(s draw.State) string { return s.Name + " " + s.Shown })
		text := cmp.Or(strings.Join(said, ", "), "not recorded")
		row.Text = side.name + ": " + text
		all = append(all, words.UpperFirst(side.name)+": "+text+".")
		chart.Groups[0].Rows = append(chart.Groups[0].Rows, row)
	}
	chart.Desc = strings.Join(all, " ")
	note := f.note("Means over all cores of a side, as printed.")
	return draw.Box(f.Name, f.Title, note, []string{chart.SVG()}, true), nil
}
