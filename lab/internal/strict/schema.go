package strict

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema describes a Go type as a JSON Schema. Fields are named by their tag,
// "json" or "toml". In JSON every field without omitempty is required; of a TOML
// file the caller says what is.
func Schema(v any, tag string) *jsonschema.Schema {
	// The default names types by package path; the bare type name reads better,
	// and no two names collide here.
	r := &jsonschema.Reflector{ExpandedStruct: true, Anonymous: true, FieldNameTag: tag,
		RequiredFromJSONSchemaTags: tag == "toml"}
	s := r.Reflect(v)
	lines(s)
	for _, d := range s.Definitions {
		lines(d)
	}
	return s
}

// lines limits each text without a form of its own to one line. CheckJSON
// refuses more than a pattern can say: see CheckLine.
func lines(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.Type == "string" && s.Pattern == "" && s.Format == "" && len(s.Enum) == 0 {
		s.Pattern, s.MaxLength = `^[^\x00-\x1f\x7f-\x9f]*$`, new(uint64(LongestLine))
	}
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		lines(p.Value)
	}
	lines(s.Items)
	lines(s.AdditionalProperties)
}

// EncodeSchema gives the bytes of a schema's file.
func EncodeSchema(s *jsonschema.Schema) []byte {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic(err) // a schema is made of this module's own types
	}
	return append(b, '\n')
}

// CompileSchema makes a schema's file ready to judge documents. It panics on what is no
// schema, since each is made of this module's own types.
func CompileSchema(url string, text []byte) *validator.Schema {
	doc, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		panic(err)
	}
	c := validator.NewCompiler()
	if err := c.AddResource(url, doc); err != nil {
		panic(err)
	}
	return c.MustCompile(url)
}

// A Word is a name that a file may hold: what it takes, if anything, and what it means.
type Word struct {
	Name    string `json:"name"`
	Form    string `json:"form,omitempty"`
	Meaning string `json:"meaning"`
}

// Meanings are the names of a table of meanings, sorted.
func Meanings[K ~string](of map[K]string) []Word {
	return Called(slices.Sorted(maps.Keys(of)), func(k K) Word { return Word{Name: string(k), Meaning: of[k]} })
}

// OneOf is the schema of a text that is one of some words.
func OneOf(words []Word) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", OneOf: Called(words, func(w Word) *jsonschema.Schema {
		return &jsonschema.Schema{Const: w.Name, Description: w.Meaning}
	})}
}

// DescribeAll describes a schema, called root, and its definitions. The text is TOML with a table of
// meanings for each type.
func DescribeAll(s *jsonschema.Schema, root string, text []byte) {
	meanings := Embedded[map[string]map[string]string](text)
	Describe(s, meanings[root])
	for name, d := range s.Definitions {
		Describe(d, meanings[name])
	}
}

// Describe gives each field of an object its meaning, and makes those required
// whose meaning begins with an asterisk. It panics if a field is left without a
// meaning, or a meaning without a field.
func Describe(s *jsonschema.Schema, meanings map[string]string) {
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		text, ok := meanings[p.Key]
		if !ok {
			panic("no meaning of " + p.Key)
		}
		if text != "" && text[0] == '*' {
			s.Required, text = append(s.Required, p.Key), text[1:]
		}
		p.Value.Description = text
	}
	for name := range meanings {
		if _, ok := s.Properties.Get(name); !ok {
			panic("no field " + name)
		}
	}
}
