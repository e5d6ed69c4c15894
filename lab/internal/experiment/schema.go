package experiment

import (
	_ "embed"
	"slices"
	"sync"

	"github.com/invopop/jsonschema"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// SchemaURL identifies the published schema. Nothing is fetched from it.
const SchemaURL = "https://line-rate.github.io/line-rate/schema/experiment-1.json"

//go:embed keys.toml
var keys []byte

// meanings says what keys mean, by the table that has them.
var meanings = sync.OnceValue(func() map[string]map[string]string {
	return strict.Embedded[map[string]map[string]string](keys)
})

// Schema returns the JSON Schema of an experiment's file. An editor that knows
// it completes names and says what they mean. Parse refuses more.
func Schema() []byte {
	s := strict.Schema(&Experiment{}, "toml")
	s.ID, s.Title = SchemaURL, "Line Rate experiment"
	settings := setting.Docs()
	for name, of := range map[string]*jsonschema.Schema{
		"Experiment": s, "Metric": strict.OneOf(metric.Words()), "Levels": table(settings), "Wall": strict.OneOf(Walls()),
		"Setting": strict.OneOf(strict.Called(settings, func(d setting.Doc) strict.Word { return d.Word })),
	} {
		s.Definitions[name] = of
	}
	s.Definitions["Levels"].Properties.Set(setting.Server, serverLevel(settings))
	for name, fields := range map[string]map[string]*jsonschema.Schema{
		"Experiment": {"metrics": {Type: "array", Items: see("Metric")}, "settings": see("Levels")},
		"Topology":   {"kind": strict.OneOf(Topologies())},
		"Factor":     {"name": see("Setting"), "levels": {Type: "array"}},
		"Server":     {"answers": strict.OneOf(answering)},
		"Relative":   {"metric": see("Metric"), "over": see("Setting")},
		"Needs":      {"bound": see("Wall")},
		"Claim": {"kind": strict.OneOf(Claims()), "metric": see("Metric"), "over": see("Setting"), "equals": see("Setting"),
			"bound": see("Wall"), "from": see("Wall"), "to": see("Wall"),
			"about": strict.OneOf([]strict.Word{{Name: AboutClient,
				Meaning: "The load generator is meant, which then may be the wall."}}),
			"profile": strict.OneOf(Profiles()), "work": strict.OneOf(Works()), "at": see("Levels")},
	} {
		for field, to := range fields {
			s.Definitions[name].Properties.Set(field, to)
		}
	}
	factor, claim, server := s.Definitions["Factor"], s.Definitions["Claim"], s.Definitions["Server"]
	for _, d := range settings {
		levels := &jsonschema.Schema{Items: see("Levels/properties/" + d.Name)}
		factor.AllOf = append(factor.AllOf, where("name", d.Name, one("levels", levels)))
	}
	server.Required = append(server.Required, "command")
	for _, f := range kinds.Forms {
		claim.AllOf = append(claim.AllOf, where("kind", string(f.Kind), f.schema()))
	}
	for name, keys := range meanings() {
		strict.Describe(s.Definitions[name], keys)
	}
	delete(s.Definitions, "Experiment")
	return strict.EncodeSchema(s)
}

// serverLevel is the schema of a server's name: a shared one, or one of the
// file's own.
func serverLevel(docs []setting.Doc) *jsonschema.Schema {
	any := docs[slices.IndexFunc(docs, func(d setting.Doc) bool { return d.Name == setting.Server })].Schema
	return &jsonschema.Schema{Description: any.Description,
		AnyOf: []*jsonschema.Schema{strict.OneOf(Servers()), {Type: any.Type, Pattern: any.Pattern, MaxLength: any.MaxLength}}}
}

func see(definition string) *jsonschema.Schema {
	return &jsonschema.Schema{Ref: "#/$defs/" + definition}
}

// table has a key for each setting.
func table(docs []setting.Doc) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(),
		AdditionalProperties: jsonschema.FalseSchema}
	for _, d := range docs {
		s.Properties.Set(d.Name, d.Schema)
	}
	return s
}

// one is an object of which one property is described.
func one(name string, s *jsonschema.Schema) *jsonschema.Schema {
	of := &jsonschema.Schema{Properties: jsonschema.NewProperties()}
	of.Properties.Set(name, s)
	return of
}

// where says what holds of an object in which a field has a value.
func where(field, value string, then *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{If: one(field, &jsonschema.Schema{Const: value}), Then: then}
}

// schema asks for the kind's own fields and refuses those of others.
func (f form) schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Properties: jsonschema.NewProperties(), Required: f.Requires}
	takes := slices.Concat(f.Requires, f.May)
	for _, two := range f.Either {
		s.AllOf = append(s.AllOf, &jsonschema.Schema{OneOf: []*jsonschema.Schema{
			{Required: two[:1]}, {Required: two[1:]}}})
		takes = append(takes, two[:]...)
	}
	for _, name := range kindFields {
		if !slices.Contains(takes, name) {
			s.Properties.Set(name, jsonschema.FalseSchema)
		}
	}
	return s
}
