package derive

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"strings"
)

// encodeLines writes JSON without blanks, with a line for each object whose first field
// has one of the names, such as a claim or a trial. With the usual indentation most of a
// deep value would be blanks; on a single line no change could be read.
func encodeLines(v any, names ...string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	text := b.String()
	for _, name := range names {
		// Inside a string these quotes would be escaped, so only objects match.
		head := `{"` + name + `":`
		text = strings.ReplaceAll(text, head, "\n"+head)
	}
	return []byte(text), nil
}

// compressed is data as gzip has it: the same bytes each time, since no time is in them.
func compressed(data []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	// Writing to a buffer cannot fail.
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}
