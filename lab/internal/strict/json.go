// Package strict accepts JSON, TOML and lines of text that have exactly one
// meaning, and refuses others. Errors name the line, because a person has to
// mend the file.
//
// In JSON it refuses what encoding/json accepts: a key that is twice in one
// object (the last one would win silently), and bytes that are not UTF-8 (which
// would be replaced, so that two names could become one).
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
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DecodeJSON decodes a document, and refuses fields that are not known. An error names the line, and
// the place where there is one: a carriage return, a fault of the syntax, a byte that is not UTF-8, half
// of a surrogate pair, a key that stands twice, a value of another type, or trailing text.
func DecodeJSON(data []byte, into any) error {
	if err := checkLineEnds(data); err != nil {
		return err
	}
	err := json.Unmarshal(data, into, json.RejectUnknownMembers(true))
	var syntax *jsontext.SyntacticError
	var value *json.SemanticError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("line %d: the file ends in the middle of the document", line(data, int64(len(data))))
	case errors.As(err, &syntax):
		at, where := line(data, syntax.ByteOffset), syntax.JSONPointer
		switch {
		case errors.Is(err, jsontext.ErrDuplicateName):
			return fmt.Errorf("line %d: %s: key %q stands twice", at, where, where.LastToken())
		case where != "":
			return fmt.Errorf("line %d: %w, in %s", at, syntax.Err, where)
		}
		return fmt.Errorf("line %d: %w", at, syntax.Err)
	case errors.As(err, &value):
		at, where := line(data, value.ByteOffset), value.JSONPointer
		switch {
		case errors.Is(err, json.ErrUnknownName):
			return fmt.Errorf("line %d: unknown field %q, in %s", at, where.LastToken(), cmp.Or(where.Parent(), "/"))
		case errors.Is(err, strconv.ErrRange):
			return fmt.Errorf("line %d: %s: %.20s is beyond any figure", at, where, value.JSONValue)
		case value.Err != nil && value.JSONValue == nil:
			return fmt.Errorf("line %d: %s: %w", at, where, value.Err)
		}
		return fmt.Errorf("line %d: %s takes %s, not a JSON %s", at, where, wanted(value.GoType), value.JSONKind)
	}
	return err
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
