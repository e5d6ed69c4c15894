package pages

import (
	"testing"

	"github.com/line-rate/line-rate/lab/internal/profile"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

func TestAmountsOfProfilesAreByTheSecond(t *testing.T) {
	for _, c := range []struct {
		kind profile.Kind
		unit string
		v    float64
		want string
	}{
		{profile.CPU, "s", 0.9337, "933.7 ms/s"},
		{profile.Block, "s", 12345, "12,345 s/s"},
		{profile.Block, "count", 0.0294, "0.029 "},
		{profile.Mutex, "s", 0, "0.000 ns/s"},
		{profile.Allocs, "B", 1536, "1.536 kB/s"},
		{profile.Heap, "B", 10155026, "10.16 MB"},
	} {
		s := scaleOf(c.kind, c.unit, c.v)
		if got := onScale(s, c.v) + " " + s.unit; got != c.want {
			t.Errorf("%v %s of a %s profile is %q in a table, want %q", c.v, c.unit, c.kind, got, c.want)
		}
	}
}

func TestAConditionIsNamedWithTheComparedFactorFirst(t *testing.T) {
	levels := setting.Levels{
		"connections": setting.Int(1000), "index": setting.String("pool"), "prefork": setting.Bool(true),
		"rps": setting.Bool(false), "block_rate_ns": setting.Int(5),
	}
	if got, want := conditionWords(levels, "index"),
		"Index pool, block rate ns 5, connections 1,000, prefork yes, RPS no"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := conditionWords(levels, ""),
		"Block rate ns 5, connections 1,000, index pool, prefork yes, RPS no"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := conditionWords(nil, "index"); got != "All trials" {
		t.Errorf("%q", got)
	}
}
