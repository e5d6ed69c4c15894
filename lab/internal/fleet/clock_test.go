package fleet

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

func TestATripBoundsTheOffset(t *testing.T) {
	sent := time.Now()
	came := sent.Add(10 * time.Millisecond)
	for _, answered := range []time.Duration{0, 3 * time.Millisecond, 10 * time.Millisecond} {
		there := sent.Add(answered + time.Second) // a second ahead
		got := trip(sent, came, there.UnixNano())
		if off := got.offset - time.Second; got.uncertainty != 5*time.Millisecond || off.Abs() > got.uncertainty {
			t.Errorf("answered after %v: %+v", answered, got)
		}
	}
}

// testdata/chrony.csv has the format of chronyc -c tracking, version 4; the figures
// are made up, since no machine here runs chrony.
func TestTrackingIsRead(t *testing.T) {
	text, err := os.ReadFile("testdata/chrony.csv")
	if err != nil {
		t.Fatal(err)
	}
	got := parseTracking(string(text))
	if want := 0.000001842 + 0.000156024 + 0.000262811/2; got == nil || math.Abs(*got-want) > 1e-12 {
		t.Errorf("%+v, want %v", got, want)
	}
	for name, from := range map[string][2]string{
		"no source":       {"Normal", "Not synchronised"},
		"its own clock":   {"A9FEA97B", "7F7F0101"},
		"a column less":   {",16.1", ""},
		"not a number":    {"0.000262811", "nan"},
		"a negative root": {"0.000156024", "-0.1"},
	} {
		if got := parseTracking(strings.Replace(string(text), from[0], from[1], 1)); got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := parseTracking("506 Cannot talk to daemon\n"); got != nil {
		t.Errorf("%+v", got)
	}
}

func TestTheSurerOfTwoMethodsCountsUnlessTheyContradict(t *testing.T) {
	ms := time.Millisecond
	server, client := reading{-ms, ms}, reading{2 * ms, ms} // 3 ms ahead, give or take 2
	for name, c := range map[string]struct {
		a, b *float64
		want Clock
	}{
		"without chrony": {nil, new(1e-4), Clock{OffsetS: 0.003, UncertaintyS: 0.002, Method: "round-trips"}},
		"chrony is unsure": {new(0.01), new(0.01),
			Clock{OffsetS: 0.003, UncertaintyS: 0.002, Method: "round-trips"}},
		"chrony is surer": {new(0.0006), new(0.0006), Clock{UncertaintyS: 0.0012, Method: "chrony"}},
		"they do not agree": {new(1e-4), new(1e-4),
			Clock{OffsetS: 0.003, UncertaintyS: 0.002, Method: "round-trips", Note: "chrony says that"}},
	} {
		got := between(server, client, c.a, c.b)
		if got.Method != c.want.Method || math.Abs(got.OffsetS-c.want.OffsetS) > 1e-9 ||
			math.Abs(got.UncertaintyS-c.want.UncertaintyS) > 1e-9 || !strings.HasPrefix(got.Note, c.want.Note) ||
			c.want.Note == "" && got.Note != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestTheWallClockAndTheMonotonicOneAreRelated(t *testing.T) {
	wall := time.Now().UnixNano()
	if got := wall - Ahead(time.Now) - Monotonic(); time.Duration(got).Abs() > 100*time.Millisecond {
		t.Errorf("%v", time.Duration(got))
	}
}
