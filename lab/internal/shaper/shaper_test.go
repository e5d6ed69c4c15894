package shaper

import (
	"testing"
	"time"
)

func TestAReadingSurvivesItsLine(t *testing.T) {
	want := Reading{At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Bytes: 1 << 60, Packets: 7, Drops: 3, CPUS: 0.25}
	got, ok, err := Parse(want.Line())
	if !ok || err != nil || got != want {
		t.Errorf("%+v, %v, %v; want %+v", got, ok, err, want)
	}
}

func TestOtherLinesAreNoReadings(t *testing.T) {
	if _, ok, err := Parse("lab: wire-server: no such network interface"); ok || err != nil {
		t.Errorf("a complaint was read: %v, %v", ok, err)
	}
	for _, line := range []string{"shaper ", "shaper {", `shaper {"bytes":1}`,
		`shaper {"at":"2026-01-02T03:04:05Z","bytes":-1}`} {
		if r, ok, err := Parse(line); ok || err == nil {
			t.Errorf("%q became %+v", line, r)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(Reading{At: time.Unix(1, 0)}.Line())
	f.Add("shaper {}")
	f.Fuzz(func(t *testing.T, line string) {
		if r, ok, err := Parse(line); ok && (err != nil || r.At.IsZero()) {
			t.Errorf("%q: %+v, %v", line, r, err)
		}
	})
}
