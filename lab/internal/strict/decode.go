// Package strict accepts JSON, TOML and lines of text that have exactly one meaning, and refuses others. Errors name
// the line, because a person has to mend the file.
//
// It refuses unknown keys, because a misspelt one would silently leave its default in force, and doubled keys, because
// one would win silently. It refuses CRLF, because the same document would have two digests; in JSON bytes that are not
// UTF-8, because two names could become one; in TOML keys that are not in lower case.
//
// Text for a single line must be visible: line breaks, control characters and marks that change the direction of
// writing could make it look like another. It refuses such text from a file, and cleans output of another program.
// Markup is plain text here, and the pages must escape it.
package strict

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/pelletier/go-toml/v2"
)

// DecodeJSON decodes a document. An error names the line, and the place where there is one.
func DecodeJSON(data []byte, into any) error {
	if err := checkLineEnds(data); err != nil {
		return err
	}
	err := json.Unmarshal(data, into, json.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	at := int64(len(data)) // where a file ends in the middle of the document
	if fault, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at = fault.ByteOffset
	} else if fault, ok := errors.AsType[*json.SemanticError](err); ok {
		at = fault.ByteOffset
	}
	return fmt.Errorf("line %d: %w", line(data, at), err)
}

// checkLineEnds refuses CRLF.
func checkLineEnds(data []byte) error {
	if at := bytes.IndexByte(data, '\r'); at >= 0 {
		return fmt.Errorf("line %d: a carriage return; lines end with a line feed alone (git config core.autocrlf input)",
			line(data, int64(at)))
	}
	return nil
}

// line is the number of the line at an offset, which may lie behind the end.
func line(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte{'\n'})
}

// Embedded decodes TOML that is a part of this program, so that a fault in it is one of the program.
func Embedded[T any](text []byte) (v T) {
	if err := toml.Unmarshal(text, &v); err != nil {
		panic(err)
	}
	return v
}

// misfit is how the decoder says that a value is of another type; it goes on with a type of Go's, which the writer
// of a file need not know.
var misfit = regexp.MustCompile(`^cannot (?:decode TOML|store an?) (.+?) in(?:to)? |^((?:negative )?integer) value \S+ cannot be stored `)

// DecodeTOML decodes a document into a struct. An error names the line and the key.
func DecodeTOML(data []byte, into any) error {
	if err := checkLineEnds(data); err != nil {
		return err
	}
	dec := toml.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	unknown, _ := errors.AsType[*toml.StrictMissingError](err)
	if fault, ok := errors.AsType[*toml.DecodeError](err); ok && unknown == nil {
		row, col := fault.Position()
		says := strings.TrimPrefix(fault.Error(), "toml: ")
		if m := misfit.FindStringSubmatch(says); m != nil {
			says = fmt.Sprintf("%s takes no TOML %s", strings.Join(fault.Key(), "."), m[1]+m[2])
		}
		return fmt.Errorf("line %d, column %d: %s", row, col, says)
	}
	var raw map[string]any
	_ = toml.Unmarshal(data, &raw) // err tells it
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

// stray finds a key that the type of its table does not have to the letter, its place, and the keys that the type
// has. The decoder's own place leaves out tables in braces. The keys of a map are the document's own.
func stray(v any, of reflect.Type, at string) (place, key string, known []string) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	types := map[string]reflect.Type{}
	if of.Kind() == reflect.Struct {
		for _, field := range reflect.VisibleFields(of) {
			if key := field.Tag.Get("toml"); key != "" && key != "-" {
				known, types[key] = append(known, key), field.Type
			}
		}
	}
	table, _ := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(table)) {
		place, in := strings.TrimPrefix(at+"."+name, "."), types[name]
		switch {
		case of.Kind() == reflect.Map:
			in = of.Elem()
		case of.Kind() != reflect.Struct:
			return "", "", nil
		case in == nil:
			return place, name, known
		}
		if place, key, known := stray(table[name], in, place); key != "" {
			return place, key, known
		}
	}
	list, _ := v.([]any)
	for i, e := range list {
		if place, key, known := stray(e, of, fmt.Sprintf("%s[%d]", at, i)); key != "" {
			return place, key, known
		}
	}
	return "", "", nil
}

// MostWritten is the limit in bytes of a file that a person writes: an experiment or a text. The longest so far has
// 16 kB.
const MostWritten = 256 << 10

// ReadUpTo reads a file and refuses a larger one than the limit in bytes before reading it.
func ReadUpTo(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, most)
}

// ReadAll reads what has at most so many bytes.
func ReadAll(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("more than %d bytes, which no such file has", most)
	}
	return data, err
}

// Replace writes a whole file to the disk in place of one that may be there: who reads it meanwhile sees the old or
// the new one.
func Replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
