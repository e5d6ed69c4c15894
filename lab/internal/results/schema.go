package results

import (
	"sync"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// The identifiers of the published schemas. Nothing is fetched from these
// addresses.
const (
	SchemaURL     = "https://line-rate.github.io/line-rate/schema/results-3.json"
	HostSchemaURL = "https://line-rate.github.io/line-rate/schema/host-2.json"
)

// versions has the version of the files that a schema is for.
var versions = map[string]int{SchemaURL: Version, HostSchemaURL: host.Version}

// Schema returns the JSON Schema of a new results file, made from the Go types.
func Schema() []byte {
	s := strict.Schema(&File{}, "json")
	s.ID, s.Title = SchemaURL, "Line Rate results file, version 3"
	// Metric names are listed: a misspelt one would be shown by no page and decide
	// no claim.
	names := strict.Called(metric.Names(), func(n string) any { return n })
	trial := s.Definitions["Trial"]
	for _, field := range []string{"metrics", "below", "resolution"} {
		p, _ := trial.Properties.Get(field)
		p.PropertyNames = &jsonschema.Schema{Enum: names}
	}
	for _, field := range []string{"figures", "resolutions"} {
		p, _ := s.Properties.Get(field)
		p.PropertyNames = &jsonschema.Schema{Enum: names}
	}
	for _, of := range []string{"Provenance", "Condition"} {
		p, _ := s.Definitions[of].Properties.Get("commands")
		p.Items.Pattern = commandLine.String()
	}
	return strict.EncodeSchema(s)
}

// HostSchema returns the JSON Schema of a new host profile, made from the Go type.
func HostSchema() []byte {
	s := strict.Schema(&host.Profile{}, "json")
	s.ID, s.Title = HostSchemaURL, "Line Rate host profile, version 2"
	return strict.EncodeSchema(s)
}

var compiled = sync.OnceValue(func() map[string]*validator.Schema {
	return map[string]*validator.Schema{
		SchemaURL:     strict.CompileSchema(SchemaURL, Schema()),
		HostSchemaURL: strict.CompileSchema(HostSchemaURL, HostSchema()),
	}
})
