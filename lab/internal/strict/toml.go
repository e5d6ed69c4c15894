package strict

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// DecodeTOML decodes a document into a struct.
func DecodeTOML(data []byte, into any) error {
	if err := checkLineEnds(data); err != nil {
		return err
	}
	dec := toml.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return located(err)
	}
	var raw map[string]any
	if err := toml.Unmarshal(data, &raw); err != nil {
		return located(err)
	}
	if key := odd(raw, ""); key != "" {
		return fmt.Errorf("unknown key %q: keys are written in lower case", key)
	}
	return nil
}

// odd finds a key that is not in lower case. The decoder takes Margin for
// margin, and if a document has both, the last one would win silently.
func odd(v any, at string) string {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			path := strings.TrimPrefix(at+"."+key, ".")
			if key != strings.ToLower(key) {
				return path
			}
			if found := odd(v[key], path); found != "" {
				return found
			}
		}
	case []any:
		for i, e := range v {
			if found := odd(e, fmt.Sprintf("%s[%d]", at, i)); found != "" {
				return found
			}
		}
	}
	return ""
}

func located(err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		row, _ := strict.Errors[0].Position()
		return fmt.Errorf("line %d: unknown key %q", row, strings.Join(strict.Errors[0].Key(), "."))
	}
	var dec *toml.DecodeError
	if errors.As(err, &dec) {
		row, col := dec.Position()
		return fmt.Errorf("line %d, column %d: %s", row, col, strings.TrimPrefix(dec.Error(), "toml: "))
	}
	return err
}
