// Package strict accepts JSON, TOML and lines of text that have exactly one
// meaning, and refuses others. Errors name the line, because a person has to
// mend the file.
//
// In JSON it finds what encoding/json accepts: a key that is twice in one
// object (the last one would win silently), text after the document, and bytes
// that are not UTF-8 (which would be replaced, so that two names could become
// one). It names the place of a number that no float64 can be.
//
// In JSON and TOML it refuses lines that end with CRLF: the same document would
// have two digests.
//
// In TOML it refuses unknown keys, because a misspelt one would silently leave
// its default in force, and keys that are not in lower case.
//
// Text for a single line, of a table, a log or a message, must be visible. Line
// breaks and control characters could make one line look like two, or like
// another; marks that change the direction of writing could make it read
// differently. Text from a file is refused; output of another program is
// cleaned. Markup is plain text here, and the pages must escape it.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// CheckJSON reports the first carriage return, else the first fault of the document:
// of its syntax, a byte that is not UTF-8, half of a surrogate pair, a duplicate key, a
// number beyond a float64, or trailing text.
func CheckJSON(data []byte) error {
	if err := checkLineEnds(data); err != nil {
		return err
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(data))
	for first := true; first || dec.StackDepth() > 0; first = false {
		tok, err := dec.ReadToken()
		if err != nil {
			return faulty(err, data)
		}
		if tok.Kind() != jsontext.KindNumber {
			continue
		}
		if _, err := tok.Float(); errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("line %d: %s: %.20s is beyond any figure", line(data, dec.InputOffset()), dec.StackPointer(), tok)
		}
	}
	if rest := data[dec.InputOffset():]; len(bytes.TrimSpace(rest)) > 0 {
		blank := len(rest) - len(bytes.TrimLeft(rest, " \t\n"))
		return fmt.Errorf("line %d: text after the end of the document", line(data, dec.InputOffset()+int64(blank)))
	}
	return nil
}

// faulty says in one line what is wrong with a document, and where.
func faulty(err error, data []byte) error {
	s := new(jsontext.SyntacticError)
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("line %d: the file ends in the middle of the document", line(data, int64(len(data))))
	case !errors.As(err, &s):
		return err
	}
	at := line(data, s.ByteOffset)
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Errorf("line %d: %s: key %q stands twice", at, s.JSONPointer, s.JSONPointer.LastToken())
	case s.JSONPointer != "":
		return fmt.Errorf("line %d: %w, in %s", at, s.Err, s.JSONPointer)
	}
	return fmt.Errorf("line %d: %w", at, s.Err)
}

// DecodeJSON decodes a document that CheckJSON has nothing to say of, and refuses fields that are not known.
func DecodeJSON(data []byte, into any) error {
	if err := CheckJSON(data); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// Mistyped says by place and words what encoding/json says by a type of Go's; other
// errors stay as they are.
func Mistyped(err error, data []byte) error {
	var m *json.UnmarshalTypeError
	if !errors.As(err, &m) {
		return err
	}
	return fmt.Errorf("line %d: /%s takes %s, not a JSON %s", line(data, m.Offset), strings.ReplaceAll(m.Field, ".", "/"),
		wanted(m.Type), m.Value)
}

// CheckTexts reports the first string of a document, or key, that is not a single line of printable characters,
// with its place below at.
func CheckTexts(v any, at string) error {
	switch v := v.(type) {
	case string:
		if err := CheckLine(v); err != nil {
			return fmt.Errorf("%s: the text %w", at, err)
		}
	case []any:
		for i, e := range v {
			if err := CheckTexts(e, at+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := CheckLine(name); err != nil {
				return fmt.Errorf("%s: the name %q %w", at, name, err)
			}
			if err := CheckTexts(v[name], at+"/"+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkLineEnds refuses CRLF: a file whose lines end in two ways has two digests.
func checkLineEnds(data []byte) error {
	if at := bytes.IndexByte(data, '\r'); at >= 0 {
		return fmt.Errorf("line %d: a carriage return; lines end with a line feed alone (git config core.autocrlf input)",
			line(data, int64(at)))
	}
	return nil
}

func line(data []byte, offset int64) int {
	offset = max(0, min(offset, int64(len(data))))
	return 1 + bytes.Count(data[:offset], []byte{'\n'})
}
