// Package metric names every quantity that a results file may hold.
//
// Results files can only use these names. Each has a base SI unit and one sentence that
// says what was counted and where. Other packages read the figures. The metrics
// themselves are in metrics.toml.
package metric

import (
	"cmp"
	_ "embed"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Unit is a base unit as used in results files. Pages may scale it
// (microseconds, Gbit/s); files never do.
type Unit string

// Ratio is a share from 0 to 1; Count has no unit.
const (
	Second         Unit = "s"
	PerSecond      Unit = "1/s"
	BitsPerSecond  Unit = "bit/s"
	BytesPerSecond Unit = "B/s"
	Bytes          Unit = "B"
	Ratio          Unit = "ratio"
	Count          Unit = "count"
)

// A Metric is one named quantity; metrics.toml says what its fields mean.
type Metric struct {
	Name           string `toml:"name"`
	Unit           Unit   `toml:"unit"`
	Label          string `toml:"label"`
	Doc            string `toml:"doc"`
	MeasuresClient bool   `toml:"measures_client"`
}

//go:embed metrics.toml
var text []byte

// All has every metric, in the order pages list them.
var All = strict.Embedded[struct{ Metric []Metric }](text).Metric

// Lookup finds a metric by its name in the results files.
func Lookup(name string) (Metric, bool) {
	return strict.Find(All, func(m Metric) bool { return m.Name == name })
}

// Names returns the names of all metrics, in the order of All.
func Names() []string { return strict.Map(All, func(m Metric) string { return m.Name }) }

// Words describes all metrics, with their units.
func Words() []strict.Word {
	units := map[Unit]string{Ratio: "0 to 1", Count: "a count", PerSecond: "a second"}
	return strict.Map(All, func(m Metric) strict.Word {
		return strict.Word{Name: m.Name, Form: cmp.Or(units[m.Unit], "in "+string(m.Unit)), Meaning: m.Label + ". " + m.Doc}
	})
}
