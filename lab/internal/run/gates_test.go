package run

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/capture"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/telemetry"
)

// A row is a change to a correct trial of a kind, and the one gate that the
// change closes, or none; after it, gates that necessarily close too.
type row[T any] struct {
	what   string
	spoil  func(T)
	closes string
}

const none = ""

// both applies several changes.
func both[T any](all ...func(T)) func(T) {
	return func(t T) {
		for _, f := range all {
			f(t)
		}
	}
}

// told is a row's name and the gates that it closes.
type told struct{ what, closes string }

func of[T any](rows []row[T]) (all []told) {
	for _, r := range rows {
		all = append(all, told{r.what, r.closes})
	}
	return all
}

// Every gate has a figure that closes it alone, a figure that does not, and a
// missing figure, which is not the same as an open gate. Without such rows a
// gate could be removed unnoticed.
func TestEveryGateHasItsRows(t *testing.T) {
	for _, g := range gate.All {
		var shuts, stays, missing bool
		for _, r := range slices.Concat(of(turnRows[g.Name]), of(pieceRows[g.Name]), of(profileRows[g.Name]),
			of(slowRows[g.Name]), of(processRows[g.Name])) {
			shuts, stays = shuts || strings.HasPrefix(r.closes+" ", g.Name+" "), stays || r.closes == none
			missing = missing || strings.Contains(r.what, "missing")
		}
		if !shuts || !stays || !missing {
			t.Errorf("%s: a row that closes it %v, one that does not %v, one with something missing %v", g.Name, shuts, stays,
				missing)
		}
	}
	for _, name := range slices.Concat(slices.Collect(maps.Keys(turnRows)), slices.Collect(maps.Keys(pieceRows)),
		slices.Collect(maps.Keys(profileRows)), slices.Collect(maps.Keys(processRows))) {
		if _, ok := gate.Of(name); !ok {
			t.Errorf("%s has rows and is no gate", name)
		}
	}
}

// A run goes on for longer through disturbances that may pass than through
// faults and their consequences.
func TestOnlyWeatherPasses(t *testing.T) {
	for _, name := range []string{gate.Errors, gate.Timeouts, gate.Resets, gate.NoTelemetry, gate.Steal, gate.SlowCore,
		gate.OtherLoad, gate.Stopped, gate.Silent, gate.IdleServers, gate.Slot} {
		if !(Plan{}).mayHavePassed(bad(name)) {
			t.Errorf("%s does not pass", name)
		}
		if (Plan{}).mayHavePassed(bad(name, gate.Non2xx)) {
			t.Errorf("%s excuses a wrong answer", name)
		}
		if !(Plan{}).mayHavePassed(bad(gate.Little, name)) {
			t.Errorf("what follows from %s does not pass with it", name)
		}
	}
	for _, name := range []string{gate.LostWorker, gate.ServerExited, gate.ClientFailed, gate.ClientHung, gate.Little,
		gate.WrongAnswer,
		gate.Non2xx, gate.Mismatches, gate.NoRequests, gate.RateShort, "a gate of the future"} {
		if (Plan{}).mayHavePassed(bad(name)) {
			t.Errorf("%s passes", name)
		}
	}
}

// A profiledWindow is a made-up window in which profiles were taken.
type profiledWindow struct {
	load
	set capture.Set
	on  loaded
}

var profileRows = map[string][]row[*profiledWindow]{
	gate.ProfileFailed: {
		{"of fewer processes than serve", func(p *profiledWindow) { p.set.Processes = 3 }, gate.ProfileFailed},
		{"of all", func(*profiledWindow) {}, none},
		{"missing", func(p *profiledWindow) { p.set = capture.Set{Started: p.on.start} }, gate.ProfileFailed},
		{"of one process without workers", func(p *profiledWindow) { p.workers, p.set.Processes = 0, 1 }, none},
	},
	gate.ProfileApart: {
		{"apart", func(p *profiledWindow) { p.set.Spread = 51 * time.Millisecond }, gate.ProfileApart},
		{"begun before the load", func(p *profiledWindow) { p.set.Started = p.on.start.Add(-time.Millisecond) },
			gate.ProfileApart},
		{"ended after it", func(p *profiledWindow) { p.set.Window = time.Second }, gate.ProfileApart},
		{"together, within the load", func(*profiledWindow) {}, none},
		{"missing: begun at no time", func(p *profiledWindow) { p.set.Started = time.Time{} }, gate.ProfileApart},
	},
}

func TestProfilesAreOfOneWindow(t *testing.T) {
	start := time.Unix(1, 0)
	for name, rows := range profileRows {
		for _, r := range rows {
			p := &profiledWindow{load{workers: 4},
				capture.Set{Processes: 4, Started: start.Add(100 * time.Millisecond), Window: 800 * time.Millisecond,
					Spread: 50 * time.Millisecond},
				loaded{start: start, finish: start.Add(time.Second)}}
			r.spoil(p)
			closes(t, name+", "+r.what, r.closes, func(fail failer) { p.apart(&p.set, p.on, fail) })
		}
	}
}

// closes compares the gates that do closes, each once, with the expected ones.
func closes(t *testing.T, what, want string, do func(failer)) {
	t.Helper()
	found := map[string]bool{}
	said := []string{}
	do(func(name, format string, args ...any) {
		found[name] = true
		r := reason(name, format, args...)
		said = append(said, r.Gate+": "+r.Detail)
	})
	if names := slices.Sorted(maps.Keys(found)); !slices.Equal(names, slices.Sorted(slices.Values(strings.Fields(want)))) {
		t.Errorf("%s: closed %q, want %q", what, said, want)
	}
}

// A calibrated trial has made-up calibrations before and after it, and the
// run's fastest.
type calibrated struct {
	results.Trial
	reference time.Duration
}

func took(metric string, s float64) func(*calibrated) {
	return func(c *calibrated) { c.Metrics[metric] = s }
}

var slowRows = map[string][]row[*calibrated]{gate.SlowCore: {
	{"as fast as ever", func(*calibrated) {}, none},
	{"slow before", took("calibration_before_s", 1.251e-6), gate.SlowCore},
	{"slow after", took("calibration_after_s", 1.251e-6), gate.SlowCore},
	{"missing: no reference", func(c *calibrated) { c.reference = 0 }, gate.SlowCore},
	{"no time", took("calibration_before_s", 0), gate.SlowCore},
	{"missing: not measured", func(c *calibrated) { delete(c.Metrics, "calibration_after_s") }, gate.NoTelemetry},
}}

func TestSlowCores(t *testing.T) {
	for _, r := range slowRows[gate.SlowCore] {
		c := &calibrated{results.Trial{Valid: true,
			Metrics: map[string]float64{"calibration_before_s": 1e-6, "calibration_after_s": 1.25e-6}}, time.Microsecond}
		r.spoil(c)
		slow(&c.Trial, c.reference)
		closes(t, r.what, r.closes, c.say)
		if c.Valid != (r.closes == none) {
			t.Errorf("%s: valid %v", r.what, c.Valid)
		}
	}
}

// say passes the trial's reasons on.
func (c *calibrated) say(fail failer) {
	for _, one := range c.Reasons {
		fail(one.Gate, "%s", one.Detail)
	}
}

// The process that used most of a side's cores is named to the person at the
// machine. The file has its name only if it is a listed one.
func TestOtherLoadIsNamed(t *testing.T) {
	l := load{split: cores.Split{Server: []int{0}, Client: []int{1}}}
	w := telemetry.Window{Others: []telemetry.Load{{Name: "chromium", Core: 1, Cores: 0.4},
		{Name: "ksoftirqd/0", Core: 0, Cores: 0.3}}}
	for metric, want := range map[string]struct{ file, here string }{
		"server_foreign_load": {"ksoftirqd (0.30)", "ksoftirqd/0 (0.30)"},
		"client_foreign_load": {"another process (0.40)", "chromium (0.40)"},
	} {
		var said results.Reason
		l.shut(map[string]float64{metric: 0.5}, w, map[string]bool{}, func(name, format string, args ...any) {
			if name == gate.OtherLoad {
				said = reason(name, format, args...)
			}
		})
		if !strings.HasSuffix(said.Detail, "most of it "+want.file) ||
			!strings.HasSuffix(said.Here, "most of it "+want.here) {
			t.Errorf("%s: %q and here %q, want %q in the end", metric, said.Detail, said.Here, want)
		}
		if text, err := json.Marshal(said); err != nil || strings.Contains(string(text), "chromium") {
			t.Errorf("%s would be written: %s, %v", metric, text, err)
		}
	}
	if got := busiest(nil, []int{0}); got.String() != "unknown" {
		t.Errorf("%q", got)
	}
	if r := reason(gate.Errors, "%d errors", 3); r.Detail != "3 errors" || r.Here != "" {
		t.Errorf("%+v", r)
	}
}
