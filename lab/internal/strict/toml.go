package strict

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Embedded decodes TOML that is a part of this program, so that a fault in it is one of the program.
func Embedded[T any](text []byte) (v T) {
	if err := toml.Unmarshal(text, &v); err != nil {
		panic(err)
	}
	return v
}

// DecodeTOML decodes a document into a struct.
func DecodeTOML(data []byte, into any) error {
	if err := checkLineEnds(data); err != nil {
		return err
	}
	dec := toml.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return located(err, data, reflect.TypeOf(into))
	}
	var raw map[string]any
	if err := toml.Unmarshal(data, &raw); err != nil {
		return located(err, data, nil)
	}
	// The decoder takes Margin for margin, and if a document has both, the last one would win silently.
	odd := ""
	walk(raw, reflect.TypeOf(into), "", func(path, key string, _ []string) bool {
		if key != strings.ToLower(key) {
			odd = path
		}
		return odd != ""
	})
	if odd != "" {
		return fmt.Errorf("unknown key %q: keys are written in lower case", odd)
	}
	return nil
}

// FrontMatter is the TOML before a page's text; empty without any.
func FrontMatter(page []byte) []byte {
	parts := bytes.SplitN(page, []byte("+++\n"), 3)
	if len(parts) < 3 || len(parts[0]) > 0 {
		return nil
	}
	return parts[1]
}

// An Own is a key that a document chooses itself, such as the name of a header.
type Own string

// walk visits the keys of a document, each with its place and the keys that the type of its table
// has, until that is enough. The keys of a map of texts are the document's own, and are left out.
func walk(v any, of reflect.Type, at string, enough func(path, key string, known []string) bool) bool {
	of = element(of)
	if of == reflect.TypeFor[map[string]string]() ||
		of != nil && of.Kind() == reflect.Map && of.Key() == reflect.TypeFor[Own]() {
		return false
	}
	switch v := v.(type) {
	case map[string]any:
		var known []string
		if of != nil && of.Kind() == reflect.Struct {
			for f := range of.Fields() {
				if key := f.Tag.Get("toml"); key != "" && key != "-" {
					known = append(known, key)
				}
			}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			path := strings.TrimPrefix(at+"."+key, ".")
			if enough(path, key, known) || walk(v[key], field(of, key), path, enough) {
				return true
			}
		}
	case []any:
		for i, e := range v {
			if walk(e, of, fmt.Sprintf("%s[%d]", at, i), enough) {
				return true
			}
		}
	}
	return false
}

// element is the type of what a list or a pointer has.
func element(of reflect.Type) reflect.Type {
	for of != nil && (of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice) {
		of = of.Elem()
	}
	return of
}

// field is the type of a table's value under a key; nil if it is not known.
func field(of reflect.Type, key string) reflect.Type {
	switch {
	case of == nil:
	case of.Kind() == reflect.Map:
		return of.Elem()
	case of.Kind() == reflect.Struct:
		for f := range of.Fields() {
			if f.Tag.Get("toml") == key {
				return f.Type
			}
		}
	}
	return nil
}

// located says in which line an error is. A key that the type does not have is
// compared with those that it has.
func located(err error, data []byte, into reflect.Type) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		row, _ := strict.Errors[0].Position()
		key := strict.Errors[0].Key()
		last, instead := key[len(key)-1], ""
		var raw map[string]any
		if toml.Unmarshal(data, &raw) == nil { // the decoder's own path leaves out tables in braces
			walk(raw, into, "", func(_, key string, known []string) bool {
				stray := key == last && len(known) > 0 && !slices.Contains(known, key)
				if stray {
					instead = "; " + Instead(last, known)
				}
				return stray
			})
		}
		return fmt.Errorf("line %d: unknown key %q%s", row, strings.Join(key, "."), instead)
	}
	var dec *toml.DecodeError
	if errors.As(err, &dec) {
		row, col := dec.Position()
		says := strings.TrimPrefix(dec.Error(), "toml: ")
		if m := misfit.FindStringSubmatch(says); m != nil {
			of := into
			for _, key := range dec.Key() {
				of = field(element(of), key)
			}
			says = fmt.Sprintf("%s takes %s, not a TOML %s", strings.Join(dec.Key(), "."), wanted(of), m[1]+m[2])
		}
		return fmt.Errorf("line %d, column %d: %s", row, col, says)
	}
	return err
}

// misfit is how the decoder says that a value is of another type; it goes on with a
// type of Go's, which the writer of a file need not know.
var misfit = regexp.MustCompile(`^cannot (?:decode TOML|store an?) (.+?) in(?:to)? |^((?:negative )?integer) value \S+ cannot be stored `)

// wanted says what a value of a type is written as.
func wanted(of reflect.Type) string {
	if of == nil {
		return "another kind of value"
	}
	switch of.Kind() {
	case reflect.Pointer:
		return wanted(of.Elem())
	case reflect.Slice:
		return "a list, each of it " + wanted(of.Elem())
	case reflect.String:
		return "a text in quotes"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Uint64:
		return "a whole number from 0 on"
	case reflect.Interface:
		return "a text, a number, or true or false"
	}
	return "a table"
}
