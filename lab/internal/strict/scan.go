package strict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A scan passes over a document whose syntax is right, and looks at keys and
// numbers. A json.Decoder's tokens would do as well, but take most of the time
// in which a results file is read, and all files are read often.
type scan struct {
	data []byte
	at   int
	path []step // to where it is, made into a pointer only for an error
}

// A step is an element of an array by number, or of an object by key.
type step struct {
	key   string
	index int
	array bool
}

func (s *scan) pointer() string {
	var p strings.Builder
	for _, one := range s.path {
		p.WriteByte('/')
		if one.array {
			p.WriteString(strconv.Itoa(one.index))
		} else {
			p.WriteString(escape(one.key))
		}
	}
	return p.String()
}

// next skips blanks and gives the byte after them, without passing it.
func (s *scan) next() byte {
	for {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\n':
			s.at++
		default:
			return c
		}
	}
}

func (s *scan) value() error {
	switch c := s.next(); {
	case c == '{':
		return s.object()
	case c == '[':
		return s.array()
	case c == '"':
		s.text()
	case c == '-' || '0' <= c && c <= '9':
		return s.number()
	default:
		for s.at < len(s.data) && 'a' <= s.data[s.at] && s.data[s.at] <= 'z' { // true, false, null
			s.at++
		}
	}
	return nil
}

func (s *scan) array() error {
	s.at++
	s.path = append(s.path, step{array: true})
	last := len(s.path) - 1
	for s.next() != ']' {
		if s.data[s.at] == ',' {
			s.at++
			s.path[last].index++
		}
		if err := s.value(); err != nil {
			return err
		}
	}
	s.at++
	s.path = s.path[:last]
	return nil
}

func (s *scan) object() error {
	s.at++
	s.path = append(s.path, step{})
	last := len(s.path) - 1
	seen := map[string]bool{}
	for s.next() != '}' {
		if s.data[s.at] == ',' {
			s.at++
			s.next()
		}
		key := s.key()
		s.path[last].key = key
		if seen[key] {
			return fmt.Errorf("line %d: %s: key %q stands twice", line(s.data, int64(s.at)), s.pointer(), key)
		}
		seen[key] = true
		s.next() // the colon
		s.at++
		if err := s.value(); err != nil {
			return err
		}
	}
	s.at++
	s.path = s.path[:last]
	return nil
}

// text passes over a string and gives it with its quotes.
func (s *scan) text() []byte {
	from := s.at
	for s.at++; s.data[s.at] != '"'; s.at++ {
		if s.data[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
	return s.data[from:s.at]
}

// key reads a key as encoding/json does, so that two ways to write one are the
// same key.
func (s *scan) key() string {
	quoted := s.text()
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var key string
	_ = json.Unmarshal(quoted, &key) // its syntax is right
	return key
}

func (s *scan) number() error {
	from := s.at
	exponent := false
	for ; s.at < len(s.data); s.at++ {
		c := s.data[s.at]
		if c == 'e' || c == 'E' {
			exponent = true
		} else if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' {
			break
		}
	}
	n := s.data[from:s.at]
	// Of other numbers only one of 309 digits is beyond a float64.
	if len(n) > 308 || exponent {
		if _, err := strconv.ParseFloat(string(n), 64); err != nil {
			return fmt.Errorf("line %d: %s: %.20s is beyond any figure", line(s.data, int64(s.at)), s.pointer(), n)
		}
	}
	return nil
}
