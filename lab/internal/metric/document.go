package metric

import (
	"cmp"
	"maps"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Document has all metrics by name, for pages.
func Document() map[string]Metric { return maps.Clone(byName) }

// Words describes all metrics, with their units.
func Words() []strict.Word {
	units := map[Unit]string{Ratio: "0 to 1", Count: "a count", PerSecond: "a second"}
	return strict.Words(all, func(m Metric) strict.Word {
		return strict.Word{Name: m.Name, Form: cmp.Or(units[m.Unit], "in "+string(m.Unit)), Meaning: m.Doc}
	})
}
