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
