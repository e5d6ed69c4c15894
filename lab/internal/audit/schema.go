package audit

import (
	_ "embed"

	"github.com/invopop/jsonschema"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// SchemaURL identifies the published schema. Nothing is fetched from it.
const SchemaURL = "https://line-rate.github.io/line-rate/schema/text-1.json"

//go:embed schema.toml
var meanings []byte

// Schema returns the JSON Schema of a text's file. An editor that knows it
// completes names and says what they mean. Parse refuses more.
func Schema() []byte {
	s := strict.Schema(&Text{}, "toml")
	s.ID, s.Title = SchemaURL, "Line Rate text: figures and claims carried over by hand"
	set := func(of, field string, to *jsonschema.Schema) { s.Definitions[of].Properties.Set(field, to) }
	units := strict.Called(Units(), func(u metric.Unit) any { return string(u) })
	for _, of := range []string{"Figure", "Check"} {
		set(of, "unit", &jsonschema.Schema{Type: "string", Enum: units})
	}
	set("Check", "kind", strict.OneOf(strict.Meanings(Kinds)))
	set("Claim", "metric", strict.OneOf(metric.Words()))
	set("Claim", "needs", &jsonschema.Schema{Type: "array", Items: strict.OneOf(strict.Meanings(Needs))})
	sides := strict.Called([]string{"equals", "at_most", "at_least"}, func(side string) *jsonschema.Schema {
		return &jsonschema.Schema{Required: []string{side}}
	})
	s.Definitions["Check"].AllOf = []*jsonschema.Schema{{OneOf: sides}}
	strict.DescribeAll(s, "Text", meanings)
	return strict.EncodeSchema(s)
}

// Units lists the base units.
func Units() []metric.Unit {
	return []metric.Unit{metric.Second, metric.PerSecond, metric.BitsPerSecond, metric.BytesPerSecond, metric.Bytes,
		metric.Ratio, metric.Count}
}
