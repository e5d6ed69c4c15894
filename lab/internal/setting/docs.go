package setting

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Doc describes a setting to whoever writes a design.
type Doc struct {
	strict.Word
	Schema *jsonschema.Schema // of one level
}

// Docs describes every setting, in the order of Names.
func Docs() (docs []Doc) {
	for _, d := range table {
		s := &jsonschema.Schema{Type: "string", Description: sentence(d.doc)}
		switch {
		case d.kind == number:
			s.Type, s.Minimum = "integer", json.Number(strconv.FormatInt(d.least, 10))
		case d.kind == boolean:
			s.Type = "boolean"
		case d.words != nil:
			for _, w := range d.words {
				s.Enum = append(s.Enum, w)
			}
		default:
			s.Pattern, s.MaxLength = d.pattern.String(), new(uint64(longest))
		}
		docs = append(docs, Doc{strict.Word{Name: d.name, Form: d.form(), Meaning: sentence(d.doc)}, s})
	}
	return docs
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// Numeric lists the settings whose levels are numbers.
func Numeric() (names []string) {
	for _, d := range table {
		if d.kind == number {
			names = append(names, d.name)
		}
	}
	return names
}
