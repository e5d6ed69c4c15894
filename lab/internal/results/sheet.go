package results

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Sheet is the run as a CSV table, for readers who draw their own charts: a
// line of names, then a row a trial in the order of time. Lines end with a line
// feed, columns of one kind are sorted by name, and the same run gives the same
// bytes.
//
// A column of figures holds the exact numbers of the results file. A figure
// that was not measured is an empty cell, never 0. A figure known only to be
// below a value is in the column below_<metric>. Figures are in base SI units, named in the metric.
// A level is in level_<factor>, since a factor may have the name of a metric:
// the level was asked for, the metric was counted. Text that a spreadsheet would
// take for a formula has an apostrophe before it.
//
// Lists within a trial (cores, threads, profiles) and the run's
// provenance are left out. Figures taken from a profile are among the metrics.
func (f *File) Sheet() ([]byte, error) {
	factors := keys(f.Conditions, func(c Condition) setting.Levels { return c.Levels })
	figures := keys(f.Trials, func(t Trial) map[string]float64 { return t.Metrics })
	limits := keys(f.Trials, func(t Trial) map[string]float64 { return t.Below })

	head := slices.Concat([]string{"seq", "block", "condition", "control_of"}, prefixed("level_", factors),
		[]string{"valid", "reasons", "bound", "bound_why"}, figures, prefixed("below_", limits))

	var b bytes.Buffer
	w := csv.NewWriter(&b)
	// Writing to a buffer cannot fail by itself; Error reports anything else.
	_ = w.Write(head)
	for _, t := range f.Trials {
		c, _ := strict.Find(f.Conditions, func(c Condition) bool { return c.ID == t.Condition })
		row := make([]string, 0, len(head))
		row = append(row, strconv.Itoa(t.Seq), strconv.Itoa(t.Block), t.Condition, c.ControlOf)
		for _, name := range factors {
			cell := ""
			if l, ok := c.Levels[name]; ok {
				cell = l.String()
			}
			row = append(row, cell)
		}
		why := strict.Map(t.Reasons, func(r Reason) string { return r.Gate + ": " + r.Detail })
		row = append(row, strconv.FormatBool(t.Valid), strings.Join(why, "; "), string(t.Bound), t.BoundWhy)
		for _, kind := range []struct {
			names []string
			of    map[string]float64
		}{{figures, t.Metrics}, {limits, t.Below}} {
			for _, name := range kind.names {
				cell := ""
				if v, ok := kind.of[name]; ok {
					// Formatted as in the JSON: strconv writes small and large numbers
					// differently.
					number, err := json.Marshal(v)
					if err != nil {
						return nil, err
					}
					cell = string(number)
				}
				row = append(row, cell)
			}
		}
		_ = w.Write(strict.Cells(row))
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// keys are those that any of some maps has, sorted.
func keys[T any, M ~map[string]V, V any](all []T, of func(T) M) []string {
	found := map[string]bool{}
	for _, one := range all {
		for key := range of(one) {
			found[key] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func prefixed(prefix string, names []string) []string {
	return strict.Map(names, func(name string) string { return prefix + name })
}
