package check

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
)

func TestNothingIsFromTheFuture(t *testing.T) {
	defer func() { now = time.Now }()
	f := made(t)
	for _, c := range []struct {
		now string
		ok  bool
	}{
		{"2026-01-02T03:06:00Z", true},
		{"2026-01-01T03:06:00Z", true}, // a clock of another time zone
		{"2026-01-01T03:04:00Z", false},
		{"2025-12-31T03:06:00Z", false},
	} {
		at, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		now = func() time.Time { return at }
		if err := (&file{File: f}).checkTimes(); (err == nil) != c.ok || err != nil &&
			!strings.HasPrefix(err.Error(), "/provenance/finished_at: 2026-01-02T03:05:05Z is in the future") {
			t.Errorf("at %s: %v", c.now, err)
		}
	}
}

func TestARunIsNamedByItsStartAndHost(t *testing.T) {
	for _, c := range []struct {
		name string
		run  string
		set  func(*results.File)
		ok   bool
	}{
		{"by both", "20260102t030405z-h", func(*results.File) {}, true},
		{"by another start", "20260102t030406z-h", func(*results.File) {}, false},
		{"by another host", "20260102t030405z-g", func(*results.File) {}, false},
		{"by the client's host", "20260102t030405z-h", func(f *results.File) { f.Hosts.Server = "g" }, false},
		{"by a time of another zone", "20260102t040405z-h",
			func(f *results.File) { f.Provenance.StartedAt = f.Provenance.StartedAt.In(time.FixedZone("", 3600)) }, false},
	} {
		f := made(t)
		c.set(f)
		f.Run = c.run
		if err := (&file{File: f}).checkName(); (err == nil) != c.ok || err != nil && !strings.HasPrefix(err.Error(),
			"/run: ") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestReasonsNameGatesThatThereAre(t *testing.T) {
	f := made(t)
	reason := &f.Trials[1].Reasons[0]
	for _, g := range append(slices.Clone(gate.All), gate.Gate{Name: "bad-mood"}) {
		reason.Gate = g.Name
		err := (&file{f, design(t)}).checkTrials()
		if unknown := g.Name == "bad-mood"; unknown != (err != nil) || unknown &&
			err.Error() != `/trials/1/reasons/0/gate: no gate "bad-mood"` {
			t.Errorf("%s: %v", g.Name, err)
		}
	}
}
