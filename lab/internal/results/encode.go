package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Column holds one metric of all trials, in the trials' order; nil where a
// trial does not have the metric.
type Column []*float64

// JSONSchema allows null entries in a column.
func (Column) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "number"}, {Type: "null"}}}}
}

// Longest is the size in bytes up to which a run adds blocks to its file.
// LeastBlocks are kept in any case, so the file is longer where each trial
// records dozens of cores.
const (
	Longest     = 300_000
	LeastBlocks = 12
	mostBlocks  = 1000
)

// Full tells whether the run has to end for its file's size: it has
// LeastBlocks, and another block would make the file longer than Longest. The
// record counts the blocks of further runs too.
func (f *File) Full() bool {
	n := f.Provenance.Blocks
	if n < LeastBlocks {
		return false
	}
	text, err := Encode(f)
	return err != nil || n >= mostBlocks || len(text)+len(text)/n > Longest
}

// columns tells whether the file's text has the trials' figures in columns.
// Naming each metric once for all trials takes a quarter of the space.
func (f *File) columns() bool { return f.SchemaVersion != Earlier }

// A columned is a map of figures that the text has in columns: its name in the
// text, and the map in each trial.
type columned struct {
	text, name string
	all        *map[string]Column
	of         func(*Trial) *map[string]float64
}

func (f *File) columned() []columned {
	return []columned{
		{"figures", "metrics", &f.Figures, func(t *Trial) *map[string]float64 { return &t.Metrics }},
		{"resolutions", "resolution", &f.Resolutions, func(t *Trial) *map[string]float64 { return &t.Resolution }},
	}
}

// spread moves the figures from the columns to the trials after a file was
// read.
func (f *File) spread() error {
	if f.SchemaVersion == Earlier {
		return nil
	}
	for _, c := range f.columned() {
		for i := range f.Trials {
			if *c.of(&f.Trials[i]) != nil {
				return fmt.Errorf("/trials/%d/%s: that of a measured run stands in columns, in /%s", i, c.name, c.text)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(*c.all)) {
			column := (*c.all)[name]
			if len(column) != len(f.Trials) {
				return fmt.Errorf("/%s/%s: %d entries for %d trials", c.text, name, len(column), len(f.Trials))
			}
			for i, v := range column {
				if v == nil {
					continue
				}
				of := c.of(&f.Trials[i])
				if *of == nil {
					*of = map[string]float64{}
				}
				(*of)[name] = *v
			}
		}
		*c.all = nil
	}
	for i := range f.Trials {
		if t := &f.Trials[i]; t.Metrics == nil {
			t.Metrics = map[string]float64{}
		}
	}
	return nil
}

// gathered is a copy of the file with the figures moved from the trials to the
// columns.
func (f File) gathered() File {
	if !f.columns() {
		return f
	}
	f.Trials = slices.Clone(f.Trials)
	for _, c := range f.columned() {
		*c.all = map[string]Column{}
		for i := range f.Trials {
			of := c.of(&f.Trials[i])
			for name, v := range *of {
				if (*c.all)[name] == nil {
					(*c.all)[name] = make(Column, len(f.Trials))
				}
				(*c.all)[name][i] = &v
			}
			*of = nil
		}
	}
	return f
}

// Encode gives the bytes of a JSON file of this project: indented, lists of
// numbers on one line, a newline at the end. Equal values give equal bytes.
func Encode(v any) ([]byte, error) {
	if f, ok := v.(*File); ok {
		v = f.gathered()
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return append(indent(nil, bytes.TrimSuffix(b.Bytes(), []byte("\n"))), '\n'), nil
}

// row is the longest object of numbers, in bytes, that is written on one line:
// a core's states, or a ratio with its interval.
const row = 120

// indent lays out JSON without blanks, with two spaces a level. Lists of
// numbers and short objects of numbers stay on one line.
func indent(out, text []byte) []byte {
	level := 0
	line := func() {
		out = append(out, '\n')
		for range level {
			out = append(out, "  "...)
		}
	}
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '[', '{':
			if end := numbers(text[i:]); end > 0 && (c == '[' || end <= row) {
				out = spaced(out, text[i:i+end])
				i += end
				continue
			}
			out = append(out, c)
			level++
			line()
			i++
		case ']', '}':
			level--
			line()
			out = append(out, c)
			i++
		case ',':
			out = append(out, c)
			line()
			i++
		case ':':
			out = append(out, ": "...)
			i++
		case '"':
			end := i + quoted(text[i:])
			out = append(out, text[i:end]...)
			i = end
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}

// numbers gives the length of the list or object at the start of a text if it
// is empty or holds only numbers and nulls; else 0.
func numbers(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == ']', c == '}':
			return i + 1
		case c == '"':
			end := i + quoted(text[i:])
			if text[0] == '[' || end == len(text) || text[end] != ':' {
				return 0
			}
			i = end
		case c == '[', c == '{', c == 't', c == 'f':
			return 0
		}
	}
	return 0
}

// spaced writes a list or object on one line, with a blank after each comma and
// colon.
func spaced(out, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		if text[i] == '"' {
			end := i + quoted(text[i:])
			out = append(out, text[i:end]...)
			i = end - 1
			continue
		}
		out = append(out, text[i])
		if text[i] == ',' || text[i] == ':' {
			out = append(out, ' ')
		}
	}
	return out
}

// quoted gives the length of the JSON string at the start of a text, quotes
// included.
func quoted(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// Round rounds figures to nine significant digits, more than any clock or
// counter of the lab resolves. Whole numbers are counts and stay exact.
func Round(metrics map[string]float64) {
	for name, v := range metrics {
		if v != math.Trunc(v) {
			metrics[name] = words.Digits(v)
		}
	}
}
