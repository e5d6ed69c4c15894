package tell

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// each prints a number of times a request.
func each(v float64) string { return words.Grouped(v, -2) }

// uses are what a request of two servers uses besides CPU time, as far as it is known of both.
func uses(other, base compare.Measured) (rows []Row) {
	add := func(row Row, print func(float64) string, other, base *float64) {
		if other != nil && base != nil {
			row.Other, row.Base = print(*other), print(*base)
			rows = append(rows, row)
		}
	}
	size := func(v float64) string { return strings.Replace(words.Size(int(v)), "\u00a0", " ", 1) }
	whole := func(v float64) string { return words.Grouped(v, 0) }
	add(Row{Name: "memory", Part: "at rest"}, size, words.Known(other.MemoryRest), words.Known(base.MemoryRest))
	add(Row{Name: "memory", Part: "under load"}, size, words.Known(other.MemoryLoad), words.Known(base.MemoryLoad))
	add(Row{Name: "bytes", Part: "of an answer"}, whole, words.Known(other.ResponseBytes), words.Known(base.ResponseBytes))
	add(Row{Name: "system calls", Unit: " a request"}, each, words.Known(other.Calls), words.Known(base.Calls))
	if of := changed(other.CallsBy, base.CallsBy); of != "" {
		rows = append(rows, Row{Name: "  changed", Words: of})
	}
	add(Row{Name: "switches", Part: "voluntary", Unit: " a request"}, each, other.Slept, base.Slept)
	add(Row{Name: "switches", Part: "involuntary", Unit: " a request"}, each, other.Displaced, base.Displaced)
	return rows
}

// changed are the calls of which a request makes more or fewer, from a tenth of a call on: "write 2.00 → 1.00".
func changed(other, base map[string]float64) string {
	by := map[string]float64{}
	for _, calls := range []map[string]float64{other, base} {
		for name := range calls {
			if v := math.Abs(other[name] - base[name]); v >= 0.1 {
				by[name] = v
			}
		}
	}
	if other == nil || base == nil {
		return ""
	}
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b))
	})
	var all []string
	for _, name := range names[:min(len(names), 3)] {
		all = append(all, fmt.Sprintf("%s %s → %s", name, each(base[name]), each(other[name])))
	}
	return strings.Join(all, ", ")
}

// mostCalls is how many calls are told by name.
const mostCalls = 8

// callsTable has the calls that differ most between servers, and then those that are made most.
func callsTable(o *compare.Outcome) (all []Table) {
	t := Table{Name: "System calls a request", Head: []string{"call"}, Says: "counted by tracing each server after the " +
		"comparison; those that differ most come first. What each request needs is exact. Waits, locks and wake-ups, as by epoll, " +
		"futex or an eventfd, depend on time, and tracing changes how often they are made"}
	by := map[string][]float64{} // of the servers that are known
	for _, s := range o.Servers {
		t.Head = append(t.Head, s.Name)
		for name := range s.CallsBy {
			by[name] = nil
		}
	}
	for name := range by {
		row, most := []string{name}, 0.0
		for _, s := range o.Servers {
			if s.CallsBy == nil {
				row = append(row, "–")
				continue
			}
			v := s.CallsBy[name]
			row, by[name], most = append(row, each(v)), append(by[name], v), max(most, v)
		}
		if each(most) != each(0) {
			t.Rows = append(t.Rows, row)
		}
	}
	slices.SortFunc(t.Rows, func(a, b []string) int {
		x, y := by[a[0]], by[b[0]]
		return cmp.Or(cmp.Compare(slices.Max(y)-slices.Min(y), slices.Max(x)-slices.Min(x)),
			cmp.Compare(slices.Max(y), slices.Max(x)), cmp.Compare(a[0], b[0]))
	})
	if t.Rows = t.Rows[:min(len(t.Rows), mostCalls)]; len(t.Rows) > 0 {
		all = append(all, t)
	}
	return all
}
