package experiment

import (
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// SchemaURL identifies the published schema. Nothing is fetched from it.
const SchemaURL = "https://line-rate.github.io/line-rate/schema/experiment-1.json"

// Schema returns the JSON Schema of an experiment's file. An editor that knows
// it completes names and says what they mean. Parse refuses more.
func Schema() []byte {
	s := strict.Schema(&Experiment{}, "toml")
	s.ID, s.Title = SchemaURL, "Line Rate experiment"
	set := func(of *jsonschema.Schema, field string, to *jsonschema.Schema) { of.Properties.Set(field, to) }
	settings := setting.Docs()
	for name, of := range map[string]*jsonschema.Schema{
		"Metric": strict.OneOf(metric.Words()), "Levels": table(settings), "Wall": strict.OneOf(Walls()),
		"Setting": strict.OneOf(strict.Words(settings, func(d setting.Doc) strict.Word { return d.Word })),
	} {
		s.Definitions[name] = of
	}
	s.Definitions["Levels"].Properties.Set(setting.Server, serverLevel(settings))
	set(s, "metrics", &jsonschema.Schema{Type: "array", Items: see("Metric")})
	set(s, "settings", see("Levels"))
	strict.Describe(s, map[string]string{
		"entry":     "*The entry's number, as 09 or 06b, or a study's word.",
		"title":     "*What is measured, as a heading.",
		"question":  "*What the experiment asks, in one sentence.",
		"core":      "Whether `lab reproduce` without arguments runs it.",
		"planned":   "What the lab lacks to run this. Its claims stand, and no command runs it.",
		"metrics":   "*What pages show of each condition.",
		"topology":  "*How client and server are joined.",
		"settings":  "Everything that is the same in every trial.",
		"servers":   "Servers of the experiment's own, by name, beside those of lab/servers.toml.",
		"factors":   "*What is compared. Every combination of levels is a condition, which each block measures once.",
		"budget_s":  "*The longest that a run goes on while a claim is undecided, in seconds.",
		"block":     "*How the time of a block is divided.",
		"claims":    "*What is said of the metrics, with bars that are fixed before the first run.",
		"withdrawn": "Claims that runs were judged by and that no longer stand.",
		"corrected": "Claims that runs were judged by and that are worded otherwise now.",
		"profile":   "Asks for a profile of each server, under the same load.",
		"relative":  "Asks for a table of ratios to one level, which decides nothing.",
	})

	topology := s.Definitions["Topology"]
	set(topology, "kind", strict.OneOf(Topologies()))
	strict.Describe(topology, map[string]string{
		"kind":          "*Loopback, a wire between two namespaces, or a fleet of machines.",
		"line_rate_bps": "The wire's rate in bits a second.",
		"burst_bytes":   "How many bytes may leave at once before the wire's rate holds them back.",
		"queue_s":       "How long a packet may wait for the wire, in seconds.",
	})
	factor := s.Definitions["Factor"]
	set(factor, "name", see("Setting"))
	set(factor, "levels", &jsonschema.Schema{Type: "array"})
	for _, d := range settings {
		levels := &jsonschema.Schema{Items: see("Levels/properties/" + d.Name)}
		factor.AllOf = append(factor.AllOf, where("name", d.Name, one("levels", levels)))
	}
	strict.Describe(factor, map[string]string{"name": "*The setting that varies.",
		"levels": "*Two levels or more, in rising order."})
	strict.Describe(s.Definitions["Block"], map[string]string{
		"slot_s": "*Seconds of one slot that count, up to 60.", "rounds": "*How many slots each condition has, 1 to 100.",
		"warmup_s": "*Seconds of load on each server before its first slot, up to 60.",
	})
	server := s.Definitions["Server"]
	server.Required = append(server.Required, "command")
	set(server, "answers", strict.OneOf(strict.Words(answering,
		func(name string) strict.Word { return strict.Word{Name: name, Meaning: answeringMeans[name]} })))
	strict.Describe(server, ServerKeys())
	strict.Describe(s.Definitions["Profile"], map[string]string{
		"seconds": "*Length of one profile, 1 to 60 whole seconds.",
		"compare": "The factor whose last level is drawn against its first.",
	})
	relative := s.Definitions["Relative"]
	set(relative, "metric", see("Metric"))
	set(relative, "over", see("Setting"))
	strict.Describe(relative, map[string]string{
		"metric": "*The metric at each level, over that at one of them.", "over": "*The factor.",
		"to":       "*The level that all others are relative to.",
		"own_work": "Gauge the client's part in the CPU time of each server, and show the ratios without it too.",
	})
	strict.Describe(s.Definitions["Withdrawal"],
		map[string]string{"id": "*The claim's id.", "why": "*What was wrong with the claim.",
			"text": "Its words, if no run that is kept was judged by it."})
	strict.Describe(s.Definitions["Correction"],
		map[string]string{"id": "*The claim's id.", "was": "*Its text before.", "why": "*What was wrong with the words."})
	needs := s.Definitions["Needs"]
	set(needs, "bound", see("Wall"))
	strict.Describe(needs, map[string]string{
		"bound": "Every trial met this wall.", "line_rate": "The wire has a line rate.",
		"cores": "The server's machine has so many logical CPUs.",
	})

	claim := s.Definitions["Claim"]
	set(claim, "kind", strict.OneOf(Claims()))
	set(claim, "metric", see("Metric"))
	set(claim, "over", see("Setting"))
	set(claim, "equals", see("Setting"))
	for _, name := range []string{"bound", "from", "to"} {
		set(claim, name, see("Wall"))
	}
	set(claim, "about", strict.OneOf([]strict.Word{{Name: AboutClient,
		Meaning: "The load generator is meant, which then may be the wall."}}))
	set(claim, "profile", strict.OneOf(Profiles()))
	set(claim, "work", strict.OneOf(Works()))
	set(claim, "at", see("Levels"))
	for _, f := range forms {
		claim.AllOf = append(claim.AllOf, where("kind", string(f.kind), f.schema()))
	}
	strict.Describe(claim, map[string]string{
		"id":       "*The claim's name: lower-case words joined by hyphens. It never changes once a run has been made.",
		"kind":     "*The form of the claim.",
		"text":     "*The claim in one sentence.",
		"why":      "*The reason for the margin or the bar.",
		"metric":   "The metric that is compared.",
		"over":     "The factor whose levels are compared.",
		"margin":   "How far apart counts as the same, as a share: 0.05 is 5 %.",
		"at_least": "The bar: a ratio, or a share from 0 to 1.",
		"at_most":  "The bar: a ratio, or a share from 0 to 1.",
		"bound":    "The wall that is met.",
		"from":     "The wall that is met at the factor's first level.",
		"to":       "The wall that is met at the factor's last level.",
		"equals":   "The setting whose level the count equals.",
		"plus":     "Added to that level.",
		"about":    "Says that the claim is about the client; leave it out for a claim about the server.",
		"needs":    "What a machine must have for the claim to apply to it.",
		"profile":  "The kind of profile.",
		"package":  "The package to look for, by its path.",
		"work":     "The kind of work to look for.",
		"levels": "The levels of that factor that are compared, in this order, if not all are: two for a ratio, which " +
			"is of the second over the first.",
		"at": "Levels that the claim is limited to.",
	})
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
	s := &jsonschema.Schema{Properties: jsonschema.NewProperties(), Required: f.requires}
	takes := slices.Concat(f.requires, f.may)
	for _, two := range f.either {
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
