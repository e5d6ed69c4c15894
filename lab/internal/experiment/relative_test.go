package experiment

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

func TestADesignAsksForATable(t *testing.T) {
	asks := strings.Replace(whole, "[settings]",
		"[relative]\nmetric = \"throughput_rps\"\nover = \"workers\"\nto = 2\n[settings]", 1)
	x := parse(t, asks)
	if x.Relative.Level() != setting.Int(2) {
		t.Errorf("it is relative to %s", x.Relative.Level())
	}
	if plain := parse(t, whole); plain.Lock(plain.Claims[0]) != x.Lock(x.Claims[0]) {
		t.Error("a table that decides nothing changed a claim's lock")
	}
	for _, c := range [][3]string{
		{"to = 2", "to = 3", "relative: to: 3 is no level of workers; there are 1, 2, 4"},
		{"to = 2", "", "relative: to is missing"},
		{"to = 2", "to = [2]", "relative: to: [2] is not a level"},
		{`over = "workers"`, `over = "worker"`, `relative: over "worker": no factor of that name; did you mean "workers"?`},
		{`metric = "throughput_rps"`, `metric = "speed"`, `relative: unknown metric "speed"`},
	} {
		// The table comes before the claims, so the first of its words is meant.
		at := strings.Index(asks, "[relative]")
		_, err := Parse("made-up", []byte(asks[:at]+strings.Replace(asks[at:], c[0], c[1], 1)))
		if err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s: %v, want %q", c[1], err, c[2])
		}
	}
}
