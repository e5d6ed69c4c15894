package profiles

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Row is a symbol with everything it called, over all paths that lead to it.
type Row struct {
	Symbol     string
	Cumulative float64 // in base units: seconds, bytes or a count
}

// Costliest lists the symbols with the highest values of one sample type over
// their paths. Samples without any symbol are left out.
func Costliest(p *profile.Profile, sampleType string, most int) ([]Row, error) {
	col, err := FindColumn(p, sampleType)
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	sums := map[string]int64{}
	for _, s := range p.Sample {
		// A recursive symbol counts once for a stack.
		seen := map[string]bool{NoSymbol: true}
		for _, name := range StackOf(s) {
			if v := s.Value[col.At]; v != 0 && !seen[name] {
				sums[name] += v
			}
			seen[name] = true
		}
	}
	var rows []Row
	for name, v := range sums {
		rows = append(rows, Row{Symbol: name, Cumulative: words.Significant(float64(v)/float64(col.Per), 12)})
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Cumulative, a.Cumulative), strings.Compare(a.Symbol, b.Symbol))
	})
	return rows[:min(len(rows), most)], nil
}
