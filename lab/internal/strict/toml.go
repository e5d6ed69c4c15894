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
	err := dec.Decode(into)
	unknown, _ := errors.AsType[*toml.StrictMissingError](err)
	if fault, ok := errors.AsType[*toml.DecodeError](err); ok && unknown == nil {
		return located(fault, reflect.TypeOf(into))
	}
	var raw map[string]any
	if err := toml.Unmarshal(data, &raw); err != nil {
		return err
	}
	place, key, known := stray(raw, reflect.TypeOf(into), "")
	for i := 0; unknown != nil && i < len(unknown.Errors); i++ {
		if path := unknown.Errors[i].Key(); path[len(path)-1] == key {
			row, _ := unknown.Errors[i].Position()
			return fmt.Errorf("line %d: unknown key %q; %s", row, strings.Join(path, "."), Instead(key, known))
		}
	}
	if key != "" {
		// The decoder takes Margin for margin, and if a document has both, the last one would win silently.
		return fmt.Errorf("unknown key %q: keys are written in lower case", place)
	}
	return err
}

// FrontMatter is the TOML before a page's text; empty without any.
func FrontMatter(page []byte) []byte {
	parts := bytes.SplitN(page, []byte("+++\n"), 3)
	if len(parts) < 3 || len(parts[0]) > 0 {
		return nil
	}
	return parts[1]
}

// stray finds a key that the type of its table does not have to the letter, its place, and the keys that the
// type has. The decoder's own place leaves out tables in braces. The keys of a map are the document's own.
func stray(v any, of reflect.Type, at string) (place, key string, known []string) {
	of = element(of)
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			place := strings.TrimPrefix(at+"."+key, ".")
			known := keys(of)
			if of.Kind() == reflect.Struct && !slices.Contains(known, key) {
				return place, key, known
			}
			if place, key, known := stray(v[key], field(of, key), place); key != "" {
				return place, key, known
			}
		}
	case []any:
		for i, e := range v {
			if place, key, known := stray(e, of, fmt.Sprintf("%s[%d]", at, i)); key != "" {
				return place, key, known
			}
		}
	}
	return "", "", nil
}

// element is the type of what a list or a pointer has.
func element(of reflect.Type) reflect.Type {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	return of
}

// keys are those that a struct may have.
func keys(of reflect.Type) (names []string) {
	for i := 0; of.Kind() == reflect.Struct && i < of.NumField(); i++ {
		if key := of.Field(i).Tag.Get("toml"); key != "" && key != "-" {
			names = append(names, key)
		}
	}
	return names
}

// field is the type of a table's value under a key; any if it is not known.
func field(of reflect.Type, key string) reflect.Type {
	if of.Kind() == reflect.Map {
		return of.Elem()
	}
	for i := 0; of.Kind() == reflect.Struct && i < of.NumField(); i++ {
		if of.Field(i).Tag.Get("toml") == key {
			return of.Field(i).Type
		}
	}
	return reflect.TypeFor[any]()
}

// located says in which line a value of another type is, or a fault of the syntax.
func located(fault *toml.DecodeError, of reflect.Type) error {
	row, col := fault.Position()
	says := strings.TrimPrefix(fault.Error(), "toml: ")
	if m := misfit.FindStringSubmatch(says); m != nil {
		for _, key := range fault.Key() {
			of = field(element(of), key)
		}
		says = fmt.Sprintf("%s takes %s, not a TOML %s", strings.Join(fault.Key(), "."), wanted(of), m[1]+m[2])
	}
	return fmt.Errorf("line %d, column %d: %s", row, col, says)
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
