package experiment

import (
	"fmt"

	"github.com/pelletier/go-toml/v2"
)

// Write gives a design as a file, which Parse reads as the same design. Keys that say nothing are left out.
func (x Experiment) Write() ([]byte, error) {
	text, err := toml.Marshal(x)
	var all map[string]any
	if err == nil {
		err = toml.Unmarshal(text, &all)
	}
	if err == nil {
		text, err = toml.Marshal(said(all, false))
	}
	if err != nil {
		return nil, fmt.Errorf("this design cannot be written: %w", err)
	}
	return text, nil
}

// said is what a value of a file says; nil if it says nothing. A number of 0 may say something, but not in all tables.
func said(v any, zeros bool) any {
	switch v := v.(type) {
	case map[string]any:
		for key, of := range v {
			if v[key] = said(of, zeros || key == "needs" || key == "topology"); v[key] == nil {
				delete(v, key)
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		for _, of := range v {
			said(of, false)
		}
		if len(v) == 0 {
			return nil
		}
	case int64, float64:
		if zeros && (v == int64(0) || v == float64(0)) {
			return nil
		}
	case string, bool:
		if v == "" || v == false {
			return nil
		}
	}
	return v
}
