package results

import (
	"math"
	"strconv"

	"github.com/invopop/jsonschema"
)

// A Column is one metric of all trials; nil where a trial does not have it.
type Column []*float64

// JSONSchema says that a column's entries may be null.
func (Column) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "number"}, {Type: "null"}}}}
}

// Round cuts figures to nine significant digits, which is more than any clock or
// counter of the lab resolves. Whole numbers stay: they count.
func Round(metrics map[string]float64) {
	for name, v := range metrics {
		if v == math.Trunc(v) {
			continue
		}
		// By way of the text, so that the value is the one that a file has.
		if r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 9, 64), 64); err == nil {
			metrics[name] = r
		}
	}
}
