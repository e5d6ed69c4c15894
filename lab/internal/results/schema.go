package results

import (
	_ "embed"
	"encoding/json"
	"slices"
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
	SchemaURL        = "https://line-rate.github.io/line-rate/schema/results-2.json"
	EarlierSchemaURL = "https://line-rate.github.io/line-rate/schema/results-1.json"
	HostSchemaURL    = "https://line-rate.github.io/line-rate/schema/host-2.json"

	EarlierHostSchemaURL = "https://line-rate.github.io/line-rate/schema/host-1.json"
)

// earlier is the schema of version 1 as it was when the last file of version 1
// was written. It is a fixed copy because the types go on changing.
//
//go:embed results-1.json
var earlier []byte

// EarlierSchema returns the JSON Schema of results files of version 1.
func EarlierSchema() []byte { return slices.Clone(earlier) }

// earlierHost is the schema of host profiles of version 1, fixed likewise.
//
//go:embed host-1.json
var earlierHost []byte

// EarlierHostSchema returns the JSON Schema of host profiles of version 1.
func EarlierHostSchema() []byte { return slices.Clone(earlierHost) }

// versions has the schema for each version of a file, by the name that is
// passed to Decode.
var versions = map[string]map[int]string{
	SchemaURL:     {Earlier: EarlierSchemaURL, Version: SchemaURL},
	HostSchemaURL: {host.Earlier: EarlierHostSchemaURL, host.Version: HostSchemaURL},
}

// Schema returns the JSON Schema of a new results file, made from the Go types.
func Schema() []byte {
	s := reflect(&File{})
	s.ID, s.Title = SchemaURL, "Line Rate results file, version 2"
	for _, gone := range []string{"size", "warmup_s", "duration_s"} {
		s.Definitions["Provenance"].Properties.Delete(gone)
	}
	// Metric names are listed: a misspelt one would be shown by no page and decide
	// no claim.
	names := make([]any, 0, len(metric.Names()))
	for _, n := range metric.Names() {
		names = append(names, n)
	}
	trial := s.Definitions["Trial"]
	for _, field := range []string{"metrics", "below", "printed", "resolution"} {
		p, _ := trial.Properties.Get(field)
		p.PropertyNames = &jsonschema.Schema{Enum: names}
	}
	for _, field := range []string{"figures", "resolutions"} {
		p, _ := s.Properties.Get(field)
		p.PropertyNames = &jsonschema.Schema{Enum: names}
	}
	return encode(s)
}

// HostSchema returns the JSON Schema of a new host profile, made from the Go type.
func HostSchema() []byte {
	s := reflect(&host.Profile{})
	s.ID, s.Title = HostSchemaURL, "Line Rate host profile, version 2"
	return encode(s)
}

func reflect(v any) *jsonschema.Schema {
	// The default names types by package path; the bare type name reads better,
	// and no two names collide here.
	r := &jsonschema.Reflector{ExpandedStruct: true, Anonymous: true}
	s := r.Reflect(v)
	lines(s)
	for _, d := range s.Definitions {
		lines(d)
	}
	return s
}

// lines limits each text without a form of its own to one line. Decode refuses
// more than a pattern can say: see strict.CheckLine.
func lines(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Type == "string" && s.Pattern == "" && s.Format == "" && len(s.Enum) == 0 {
		longest := uint64(strict.LongestLine)
		s.Pattern, s.MaxLength = `^[^\x00-\x1f\x7f-\x9f]*$`, &longest
	}
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		lines(p.Value)
	}
	lines(s.Items)
	lines(s.AdditionalProperties)
}

func encode(s *jsonschema.Schema) []byte {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // the schema is made of this package's own types
	}
	return append(b, '\n')
}

var compiled = sync.OnceValue(func() map[string]*validator.Schema {
	c := validator.NewCompiler()
	out := map[string]*validator.Schema{}
	for url, text := range map[string][]byte{SchemaURL: Schema(), EarlierSchemaURL: earlier, HostSchemaURL: HostSchema(), EarlierHostSchemaURL: earlierHost} {
		var doc any
		if err := json.Unmarshal(text, &doc); err != nil {
			panic(err)
		}
		if err := c.AddResource(url, doc); err != nil {
			panic(err)
		}
		out[url] = c.MustCompile(url)
	}
	return out
})
