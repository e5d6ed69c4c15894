package run

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/capture"
	"github.com/line-rate/line-rate/lab/internal/gate"
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
