package profiles

import (
	"fmt"
	"strings"

	"github.com/google/pprof/profile"
)

// A Column is one sample type of a profile: its index among a sample's values,
// and its unit.
type Column struct {
	At   int
	Unit string // base unit: s, B or count
	Per  int64  // how many of the profile's own unit make one base unit
}

// units has the base unit for each of pprof's units.
var units = map[string]Column{
	"nanoseconds":  {Unit: "s", Per: 1e9},
	"microseconds": {Unit: "s", Per: 1e6},
	"milliseconds": {Unit: "s", Per: 1e3},
	"seconds":      {Unit: "s", Per: 1},
	"bytes":        {Unit: "B", Per: 1},
	"count":        {Unit: "count", Per: 1},
}

// FindColumn finds a sample type by its name.
func FindColumn(p *profile.Profile, sampleType string) (Column, error) {
	var have []string
	for i, t := range p.SampleType {
		if t.Type == sampleType {
			c, known := units[t.Unit]
			if !known {
				return Column{}, fmt.Errorf("%s is in %q, which has no base unit here", sampleType, t.Unit)
			}
			c.At = i
			return c, nil
		}
		have = append(have, t.Type)
	}
	return Column{}, fmt.Errorf("the profile has no sample type %q; it has %s", sampleType, strings.Join(have, ", "))
}
