package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/invopop/jsonschema"
)

// A Column is one metric of all trials; nil where a trial does not have it.
type Column []*float64

// JSONSchema says that a column's entries may be null.
func (Column) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "number"}, {Type: "null"}}}}
}

// Longest is how many bytes a run's file may have. Blocks are added as long as the
// next still fits, and LeastBlocks in any case: where each trial says what dozens
// of cores did, the file is longer.
const (
	Longest     = 300_000
	LeastBlocks = 12
	mostBlocks  = 1000
)

// Full tells whether a run has as many blocks as its file has room for. More of
// the design is measured by further runs, which count together.
func (f *File) Full() bool {
	n := f.Provenance.Blocks
	if n < LeastBlocks {
		return false
	}
	text, err := Encode(f)
	return err != nil || n >= mostBlocks || len(text)+len(text)/n > Longest
}

// columns tells whether the trials' figures stand in columns while the file is
// text: named once for all trials they take a quarter of the room. A published
// run has few, beside each as it was printed.
func (f *File) columns() bool { return f.SchemaVersion != Earlier && f.Source == Measured }

// A columned is what stands in columns: where in the text, and in a trial.
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

// spread hands each trial its figures after a file was read.
func (f *File) spread() error {
	if f.SchemaVersion == Earlier {
		return nil
	}
	if !f.columns() && (f.Figures != nil || f.Resolutions != nil) {
		return errors.New("/figures: those of a published run stand in its trials' metrics, beside what was printed")
	}
	for _, c := range f.columned() {
		for i := range f.Trials {
			if f.columns() && *c.of(&f.Trials[i]) != nil {
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

// gathered is the file as its text has it.
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
// numbers on one line, with a newline at the end, the same for the same value.
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

// row is the longest object of numbers that is written on one line: that of a
// core's states, or of a ratio and its interval.
const row = 120

// indent lays out JSON that has no blanks, two a level. Lists of numbers stay on
// one line, and so do short objects of numbers.
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

// numbers gives the length of the list or object that a text begins with, where
// it holds numbers and nulls alone, or nothing; 0 elsewhere.
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

// spaced writes a list or object on one line, a blank behind each comma and colon.
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

// quoted gives the length of the text in quotes that some JSON begins with.
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
