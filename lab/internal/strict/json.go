// Package strict accepts JSON, TOML and lines of text that have exactly one
// meaning, and refuses others. Errors name the line, because a person has to
// mend the file.
//
// In JSON it finds what encoding/json accepts: a key that is twice in one
// object (the last one would win silently), text after the document, and bytes
// that are not UTF-8 (which would be replaced, so that two names could become
// one). It names the place of a number that no float64 can be. It does not check shapes; the JSON Schema does, by JSON pointer.
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
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// CheckJSON reports the first byte that is not UTF-8, else the first carriage
// return, syntax error, duplicate key, number beyond a float64 or trailing text.
func CheckJSON(data []byte) error {
	if at := notUTF8(data); at >= 0 {
		return fmt.Errorf("line %d: byte %#02x is not UTF-8", line(data, int64(at)), data[at])
	}
	if err := checkLineEnds(data); err != nil {
		return err
	}
	// The syntax of the whole is checked first: a Decoder gives offsets of syntax
	// errors relative to somewhere within the document, and has no limit on
	// nesting.
	var all json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return syntax(err, data)
	}
	if at := loneSurrogate(data); at >= 0 {
		return fmt.Errorf("line %d: %s is half of a character; write the character itself", line(data, int64(at)), data[at:at+6])
	}
	s := scan{data: data}
	return s.value()
}

// loneSurrogate is the index of the first escape that is half of a surrogate pair; -1
// if there is none. Decoding would replace it, so that two texts could become one.
func loneSurrogate(data []byte) int {
	unit := func(at int) rune { // 0 where no such escape stands
		if at+6 > len(data) || data[at] != '\\' || data[at+1] != 'u' {
			return 0
		}
		n, _ := strconv.ParseUint(string(data[at+2:at+6]), 16, 16)
		return rune(n)
	}
	for at := 0; at < len(data); at++ {
		switch {
		case data[at] != '\\':
		case !utf16.IsSurrogate(unit(at)):
			at++ // what is escaped may be a backslash
		case utf16.DecodeRune(unit(at), unit(at+6)) == utf8.RuneError:
			return at
		default:
			at += 11
		}
	}
	return -1
}

// Mistyped says by place and words what encoding/json says by a type of Go's; other
// errors stay as they are.
func Mistyped(err error, data []byte) error {
	var m *json.UnmarshalTypeError
	if !errors.As(err, &m) {
		return err
	}
	return fmt.Errorf("line %d: /%s takes %s, not a JSON %s", line(data, m.Offset), strings.ReplaceAll(m.Field, ".", "/"), wanted(m.Type), m.Value)
}

// checkLineEnds refuses CRLF: a file whose lines end in two ways has two digests.
func checkLineEnds(data []byte) error {
	if at := bytes.IndexByte(data, '\r'); at >= 0 {
		return fmt.Errorf("line %d: a carriage return; lines end with a line feed alone (git config core.autocrlf input)", line(data, int64(at)))
	}
	return nil
}

// notUTF8 is the index of the first byte that is not UTF-8; -1 if there is
// none.
func notUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

func syntax(err error, data []byte) error {
	var s *json.SyntaxError
	if !errors.As(err, &s) {
		return err
	}
	at := line(data, s.Offset-1) // the offset includes the offending byte
	// If a word is cut off at the end, the scanner reports a blank after it.
	cut := s.Offset >= int64(len(data)) && !bytes.HasSuffix(data, []byte(" "))
	switch text := s.Error(); {
	case text == "unexpected end of JSON input", cut && strings.HasPrefix(text, "invalid character ' '"):
		return fmt.Errorf("line %d: the file ends in the middle of the document", line(data, int64(len(data))))
	case strings.HasSuffix(text, "after top-level value"):
		return fmt.Errorf("line %d: text after the end of the document", at)
	}
	return fmt.Errorf("line %d: %w", at, err)
}

func line(data []byte, offset int64) int {
	offset = max(0, min(offset, int64(len(data))))
	return 1 + bytes.Count(data[:offset], []byte{'\n'})
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func escape(key string) string { return pointerEscapes.Replace(key) }
