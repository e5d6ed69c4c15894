// Package strict takes JSON, TOML and lines of text that mean exactly one thing, and
// refuses others. It says where, by line, because a person has to mend the file.
//
// Of JSON it finds what encoding/json lets pass: a key that stands twice in one
// object (the last one would win in silence), text after the document, and bytes
// that are no UTF-8 (which it would replace, so that two different names became
// one). It does not check shapes; the JSON Schema does, by JSON pointer.
//
// Of TOML it refuses unknown keys, because a misspelt one would leave its default to
// decide what nobody chose, and keys that are not in lower case.
//
// And it is about text that stands in one line: of a table, of a log, of a message.
// What a reader cannot see does not belong there. Line breaks and control characters
// could make one line look like two, or like another; marks that turn the direction
// of writing could make it read as what it is not. What a file says is refused, what
// another program printed is made fit. The limit: markup is text like any other here,
// and is the pages' to escape.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// CheckJSON reports the first byte that is no UTF-8, else the first syntax error,
// duplicate key or trailing text.
func CheckJSON(data []byte) error {
	if at := notUTF8(data); at >= 0 {
		return fmt.Errorf("line %d: byte %#02x is not UTF-8", line(data, int64(at)), data[at])
	}
	// Syntax comes first and of the whole: a Decoder's syntax errors count from
	// somewhere within the document, and it nests without a limit.
	var all json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return syntax(err, data)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return value(dec, data, "")
}

func value(dec *json.Decoder, data []byte, pointer string) error {
	tok, err := dec.Token()
	if err != nil {
		return syntax(err, data)
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		return nil
	}
	if delim == '[' {
		for i := 0; dec.More(); i++ {
			if err := value(dec, data, pointer+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	} else {
		seen := map[string]bool{}
		for dec.More() {
			tok, err := dec.Token()
			if err != nil {
				return syntax(err, data)
			}
			key := tok.(string) // the decoder admits no other token here
			at := pointer + "/" + escape(key)
			if seen[key] {
				return fmt.Errorf("line %d: %s: key %q stands twice", line(data, dec.InputOffset()), at, key)
			}
			seen[key] = true
			if err := value(dec, data, at); err != nil {
				return err
			}
		}
	}
	if _, err := dec.Token(); err != nil {
		return syntax(err, data)
	}
	return nil
}

// notUTF8 is where the text stops being UTF-8; -1 where all of it is.
func notUTF8(data []byte) int {
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
	at := line(data, s.Offset-1) // the offset counts the byte it stumbled on
	// Where a word is cut off, the scanner says it met a blank after the end.
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

// A Replacer is dear to make and every key needs it.
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func escape(key string) string { return pointerEscapes.Replace(key) }
