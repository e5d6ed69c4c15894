// Package trend keeps the weekly series: what the smoke benchmark and the A/A
// control gave on a runner that nobody chose, one small file a week.
//
// It decides no claim, and nothing fails because of a figure in it. Runners differ,
// so figures are comparable only where the processor and the number of cores are the
// same, and even there two runners are two machines. The A/A ratio of a week needs no
// other week: it says how far one server differed from itself.
package trend

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// A Week is one file below data/trend, named after its date.
type Week struct {
	SchemaVersion int                     `json:"schema_version"`
	Date          string                  `json:"date"`   // the day of the A/A control's last run, in UTC
	Commit        string                  `json:"commit"` // of the lab
	CPU           string                  `json:"cpu"`
	Cores         int                     `json:"cores"`
	Blocks        int                     `json:"blocks"` // of the A/A control
	Trials        int                     `json:"trials"`
	InvalidTrials int                     `json:"invalid_trials"`
	Control       map[string]Range        `json:"control"` // by metric: the ratio of a server to itself
	Figures       map[string]Range        `json:"figures"` // by metric, of the A/A control's server
	Claims        map[verdict.Verdict]int `json:"claims"`  // of the smoke benchmark, by verdict
}

// A Range is a median with its interval.
type Range struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// Metrics are those of each week. Throughput is the first that a page shows.
var Metrics = []string{"throughput_rps", "server_cpu_per_request_s"}

const (
	version   = 1
	mostBytes = 16 << 10
)

var commits = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Read reads a week and refuses one that cannot be.
func Read(path string) (*Week, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > mostBytes {
		return nil, fmt.Errorf("no regular file of at most %d bytes", mostBytes)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := strict.CheckJSON(data); err != nil {
		return nil, err
	}
	w := &Week{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(w); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if name := strings.TrimSuffix(filepath.Base(path), ".json"); w.Date != name {
		return nil, fmt.Errorf("/date: %q differs from the file's name", w.Date)
	}
	return w, w.check()
}

func (w *Week) check() error {
	if w.SchemaVersion != version {
		return fmt.Errorf("/schema_version: %d is not known; this lab knows %d", w.SchemaVersion, version)
	}
	if _, err := time.Parse(time.DateOnly, w.Date); err != nil {
		return fmt.Errorf("/date: %q is no day such as 2026-11-23", w.Date)
	}
	if !commits.MatchString(w.Commit) {
		return fmt.Errorf("/commit: %q is no commit", w.Commit)
	}
	if err := strict.CheckLine(w.CPU); err != nil || strings.TrimSpace(w.CPU) == "" || len(w.CPU) > 100 {
		return fmt.Errorf("/cpu: %q is no name of a processor", w.CPU)
	}
	if w.Cores < 1 || w.Cores > 4096 {
		return fmt.Errorf("/cores: %d", w.Cores)
	}
	if w.Blocks < 1 || w.Trials < w.Blocks || w.InvalidTrials < 0 || w.InvalidTrials > w.Trials {
		return fmt.Errorf("/blocks, /trials, /invalid_trials: %d, %d and %d cannot be", w.Blocks, w.Trials, w.InvalidTrials)
	}
	for field, ranges := range map[string]map[string]Range{"control": w.Control, "figures": w.Figures} {
		if got, want := slices.Sorted(maps.Keys(ranges)), slices.Sorted(slices.Values(Metrics)); !slices.Equal(got, want) {
			return fmt.Errorf("/%s: has %s, not %s", field, strings.Join(got, ", "), strings.Join(want, ", "))
		}
		for name, r := range ranges {
			if !(0 < r.Low && r.Low <= r.Median && r.Median <= r.High) || math.IsInf(r.High, 1) || field == "control" && (r.Low < 0.1 || r.High > 10) {
				return fmt.Errorf("/%s/%s: a median of %g from %g to %g cannot be", field, name, r.Median, r.Low, r.High)
			}
		}
	}
	for v, n := range w.Claims {
		if verdict.Verdict(v).Meaning() == "" || n < 0 {
			return fmt.Errorf("/claims/%s: %d cannot be", v, n)
		}
	}
	return nil
}
