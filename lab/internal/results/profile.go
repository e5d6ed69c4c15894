package results

import (
	"github.com/line-rate/line-rate/lab/internal/profiles"
)

// A RawProfile names a file in data/profiles in pprof's format: the profiles of
// all valid trials of a condition, merged.
type RawProfile struct {
	Kind   profiles.Kind `json:"kind" jsonschema:"enum=cpu,enum=mutex,enum=block,enum=heap,enum=goroutine,enum=allocs"`
	File   string        `json:"file" jsonschema:"pattern=^[a-z0-9-]+/[a-z0-9-]+/c[0-9]+-[a-z]+[.]pb[.]gz$,maxLength=250,description=Path from data/profiles."`
	SHA256 string        `json:"sha256" jsonschema:"pattern=^[0-9a-f]{64}$"`
	Trials int           `json:"trials" jsonschema:"minimum=1,description=How many trials' windows it holds."`
}

// Profile finds a trial's profile by kind.
func (t Trial) Profile(kind profiles.Kind) (profiles.Profile, bool) {
	for _, p := range t.Profiles {
		if p.Kind == kind {
			return p, true
		}
	}
	return profiles.Profile{}, false
}

// profileUnits has the unit of each kind of profile.
var profileUnits = map[profiles.Kind]string{"cpu": "s", "mutex": "s", "block": "s", "heap": "B", "allocs": "B",
	"goroutine": "count"}
