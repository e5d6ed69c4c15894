package audit

import (
	"github.com/invopop/jsonschema"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// SchemaURL identifies the published schema. Nothing is fetched from it.
const SchemaURL = "https://line-rate.github.io/line-rate/schema/text-1.json"

// Schema returns the JSON Schema of a text's file. An editor that knows it
// completes names and says what they mean. Parse refuses more.
func Schema() []byte {
	s := strict.Schema(&Text{}, "toml")
	s.ID, s.Title = SchemaURL, "Line Rate text: figures and claims carried over by hand"
	set := func(of, field string, to *jsonschema.Schema) { s.Definitions[of].Properties.Set(field, to) }
	var units []any
	for _, u := range Units() {
		units = append(units, string(u))
	}
	unit := &jsonschema.Schema{Type: "string", Enum: units}
	strict.Describe(s, map[string]string{
		"entry": "*The entry's number, or the study's word: the file's name.", "date": "The day on which it was published.",
		"tables":  "Its tables.",
		"figures": "Figures of the text's sentences, as printed.", "checks": "What the figures should agree with.",
		"claims": "What the text says, in our own words, and what it would need.",
	})
	strict.Describe(s.Definitions["Table"], map[string]string{
		"id": "*Its name in formulas.", "place": "*Where it is printed.",
		"experiment": "*The experiment that repeats what it shows.",
		"host":       "*The server's machine, of data/hosts.", "client": "The client's, if it is another.",
		"topology":      "*How the machines were joined: fleet, loopback or netns.",
		"line_rate_bps": "What the wire carried, in bits a second.",
		"note":          "What the text leaves open.", "settings": "What was set alike in every row.",
		"rows": "*A run each. Formulas call them c1, c2 and so on.",
	})
	strict.Describe(s.Definitions["Row"], map[string]string{"levels": "What was set in this row.",
		"printed": "*Its figures by metric, as printed."})
	set("Figure", "unit", unit)
	strict.Describe(s.Definitions["Figure"], map[string]string{
		"id": "*Its name in formulas: lower-case letters, digits and _.", "place": "*Where it is printed.",
		"printed": "*The figure as printed, such as 1.32M, ~34µs, +117%, <1ms or 6.25 GB/s.",
		"unit":    "Its unit, if none is printed; a count by default.", "exact": "It is a setting or a count, not rounded.",
		"cut": "It was rounded down.", "binary": "It was printed by a tool whose kilo is 1,024.",
	})
	set("Check", "kind", strict.OneOf(strict.Meanings(Kinds)))
	set("Check", "unit", unit)
	strict.Describe(s.Definitions["Check"], map[string]string{
		"id": "*Its name: lower-case letters, digits and _.", "kind": "*What is compared.",
		"of":     "*A figure's name, or a formula.",
		"equals": "The formula that should give the same.", "at_most": "The formula that should give as much or more.",
		"at_least": "The formula that should give as much or less.",
		"within":   "How far apart may be allowed beyond rounding, as a share; note says why.",
		"place":    "Where it stands, if not where the figure does.",
		"unit":     "Its unit, if not the figure's.", "note": "What a reader should know of the comparison.",
	})
	sides := &jsonschema.Schema{}
	for _, side := range []string{"equals", "at_most", "at_least"} {
		sides.OneOf = append(sides.OneOf, &jsonschema.Schema{Required: []string{side}})
	}
	s.Definitions["Check"].AllOf = []*jsonschema.Schema{sides}
	set("Claim", "metric", strict.OneOf(metric.Words()))
	set("Claim", "needs", &jsonschema.Schema{Type: "array", Items: strict.OneOf(strict.Meanings(Needs))})
	strict.Describe(s.Definitions["Claim"], map[string]string{
		"id": "*Its name: lower-case letters, digits and _.", "place": "*Where the text says it.",
		"says":   "*The claim, in our own words.",
		"metric": "What it is about.", "needs": "What it takes to make the claim.",
		"checks":      "The checks whose disagreement refutes it.",
		"runs":        "How many runs of each condition the text has.",
		"client_busy": "How busy the client was, as a formula; leave it out if that was not recorded.",
		"server_busy": "How busy the server was, as a formula; leave it out if that was not recorded.",
		"wall":        "How busy the part was that the text calls the wall, as a formula.",
		"comparison":  "Whether the run to compare with was made.",
	})
	return strict.EncodeSchema(s)
}

// Units lists the base units.
func Units() []metric.Unit {
	return []metric.Unit{metric.Second, metric.PerSecond, metric.BitsPerSecond, metric.BytesPerSecond, metric.Bytes,
		metric.Ratio, metric.Count}
}
