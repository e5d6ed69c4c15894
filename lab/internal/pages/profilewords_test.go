package pages

import (
	"testing"

	"github.com/line-rate/line-rate/lab/internal/profiles"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

func TestAmountsOfProfilesAreByTheSecond(t *testing.T) {
	for _, c := range []struct {
		kind   profiles.Kind
		unit   string
		v      float64
		amount string
		table  string
	}{
		{profiles.CPU, "s", 0.9337, "934 ms a second", "933.7 ms/s"},
		{profiles.Block, "s", 31.66, "31.7 s a second", "31.66 s/s"},
		{profiles.Block, "s", 220.04, "220 s a second", "220.0 s/s"},
		{profiles.Block, "s", 12345, "12,300 s a second", "12,345 s/s"},
		{profiles.Block, "count", 0.0294, "0.0294", "0.029"},
		{profiles.Mutex, "s", 2.5e-7, "250 ns a second", "250.0 ns/s"},
		{profiles.Mutex, "s", 0, "0 s a second", "0.000 ns/s"},
		{profiles.Allocs, "B", 1536, "1.54 kB/s", "1.536 kB/s"},
		{profiles.Heap, "B", 1536, "1,540 B", "1,536 B"},
		{profiles.Heap, "B", 10155026, "10.2 MB", "10.16 MB"},
		{profiles.Goroutine, "count", 111, "111", "111.0"},
	} {
		if got := amount(c.kind, c.unit, c.v); got != c.amount {
			t.Errorf("%v %s of a %s profile is %q, want %q", c.v, c.unit, c.kind, got, c.amount)
		}
		s, _ := scaleOf(c.kind, c.unit, c.v)
		if got := onScale(s, c.v, s.unit); got != c.table {
			t.Errorf("%v %s of a %s profile is %q in a table, want %q", c.v, c.unit, c.kind, got, c.table)
		}
	}
}

func TestSmallerValuesStandOnTheScaleOfTheLargest(t *testing.T) {
	s, said := scaleOf(profiles.CPU, "s", 0.45)
	if s != (scale{1000, "ms/s", 1}) || said != "ms a second" {
		t.Errorf("%+v, %q", s, said)
	}
	if got := onScale(s, 0.00125, ""); got != "1.3" {
		t.Errorf("%q", got)
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
