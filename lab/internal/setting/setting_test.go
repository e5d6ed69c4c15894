package setting

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestEachSettingStandsOnceAndItsKnobFits(t *testing.T) {
	for i, d := range table {
		if slices.Contains(names[:i], d.Name) {
			t.Errorf("%s has two rows", d.Name)
		}
		// A text without limits could be markup on some page.
		if has := len(d.Words) > 0 || d.Pattern != nil; has != (d.Kind == "text") {
			t.Errorf("%s: words %v, pattern %v", d.Name, d.Words, d.Pattern)
		}
		if k := d.Knob; k != nil && (!d.takes(k.At()) || k.Script == "" || len(k.On) == 0) {
			t.Errorf("the knob of %s has no script, no topology, or a level that it cannot have", d.Name)
		}
	}
}

func TestCheckAcceptsOnlyLevelsOfTheRightKind(t *testing.T) {
	for _, c := range []struct {
		name  string
		level Level
		says  string // empty: accepted
	}{
		{Workers, Int(4), ""},
		{ClientWorkers, Int(0), ""},
		{Route, String("/read"), ""},
		{Prefork, Bool(false), ""},
		{IRQ, String("pinned"), ""},
		{ServerCPUs, String("0-5"), ""},
		{Variant, String("batch"), ""},
		{Variant, String("pool-1"), `setting "variant"`},
		{EventRate, Int(0), ""},
		{Pacing, String("closed"), `setting "pacing"`},
		{IRQ, String("elsewhere"), `setting "irq"`},
		{RPS, String("ff"), `setting "rps"`},
		{Workers, Int(-1), `setting "workers"`},
		{Workers, String("4"), "cannot be 4"},
		{Route, String("/\x1b]0;pwn\a\n"), `cannot be /\x1b]0;pwn\a\n; give`},
		{Route, String("/" + strings.Repeat("a", 100_000)), "aaa…; give"},
		{Generator, String("\x1b[31m"), `cannot be "\x1b[31m"; `},
		{Workers, Bool(true), "cannot be true"},
		{Route, Int(1), `setting "route" (path requested) cannot be 1`},
		{Route, Bool(true), `setting "route"`},
		{Prefork, Int(1), `setting "prefork"`},
		{Prefork, String("true"), `setting "prefork"`},
		{Workers, Level{}, "(unset)"},
		{"worker", Int(1), `unknown setting "worker"`},
		{"Workers", Int(1), `unknown setting "Workers"`},
		{"", Int(1), `unknown setting ""`},
	} {
		err := Check(c.name, c.level)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s = %v: %v, want %q", c.name, c.level, err, c.says)
		}
	}
}

// A route is appended to an address. Without a leading slash it could send the
// load to another server, and other characters could be markup.
func TestRoutesAndCoresHaveNoOtherMeaning(t *testing.T) {
	for _, route := range []string{"/", "/read", "/list/20", "/v1.0/a_b-c/", "60 % /read + 40 % /list of 20 to 30"} {
		if err := Check(Route, String(route)); err != nil {
			t.Errorf("%s: %v", route, err)
		}
	}
	for _, route := range []string{
		"", "read", "@127.0.0.1:19999/x", "/@127.0.0.1:19999/x", "//127.0.0.1:19999/x", "/a//b", ":80/x",
		"http://127.0.0.1/x", "/read?n=1", "/read#x", "/a b", "/a\n",
		"/%2e", "\\\\x", "/<img src=x>", `/"x"`, "/'x'", "/a&b", "/é", "60 % /read", "60 % @x + 40 % /y",
		"60 % /read + 40 % /<b>", "/" + strings.Repeat("a", 100),
	} {
		if err := Check(Route, String(route)); err == nil {
			t.Errorf("%q is taken for a route", route)
		}
	}
	for _, cpus := range []string{"0", "0-5", "0-5,8,10-11"} {
		if err := Check(ServerCPUs, String(cpus)); err != nil {
			t.Errorf("%s: %v", cpus, err)
		}
	}
	for _, cpus := range []string{"", "all", "0-", "-1", "0,", "0 1", "0;reboot", "0-5<b>", "100000"} {
		if err := Check(ServerCPUs, String(cpus)); err == nil {
			t.Errorf("%q is taken for a list of cores", cpus)
		}
	}
	for _, c := range []struct {
		level Level
		want  bool
	}{{String("/read"), true}, {String("60 % /read + 40 % /list"), false}, {String("@x/y"), false}, {Int(1), false}} {
		if got := IsPath(c.level); got != c.want {
			t.Errorf("%v is one path: %v", c.level, got)
		}
	}
}

func TestParseLevelTakesScalarsOnly(t *testing.T) {
	for _, c := range []struct {
		in   any
		want Level
	}{
		{int64(3), Int(3)}, {3, Int(3)}, {3.0, Int(3)}, {math.Copysign(0, -1), Int(0)}, {"x", String("x")},
		{true, Bool(true)},
	} {
		if got, err := ParseLevel(c.in); err != nil || got != c.want {
			t.Errorf("%v (%T): %v, %v", c.in, c.in, got, err)
		}
	}
	for _, in := range []any{nil, 1.5, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, []any{1}, map[string]any{},
		uint8(1)} {
		if got, err := ParseLevel(in); err == nil {
			t.Errorf("%v (%T) became the level %v", in, in, got)
		}
	}
}

func TestLessOrdersNumbersBySizeAndFalseFirst(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b Level
	}{
		{"numbers by size, not by letter", Int(9), Int(10)},
		{"zero first", Int(0), Int(1)},
		{"false before true", Bool(false), Bool(true)},
		{"strings by letter", String("gofakeit"), String("pool")},
	} {
		if !c.a.Less(c.b) || c.b.Less(c.a) || c.a.Less(c.a) {
			t.Errorf("%s: %v before %v: %v, the other way: %v, before itself: %v", c.name, c.a, c.b, c.a.Less(c.b),
				c.b.Less(c.a), c.a.Less(c.a))
		}
	}
}

func TestJSONRoundTrip(t *testing.T) {
	// Some JSON readers lose digits of whole numbers above 2^53; no setting gets
	// near.
	for _, l := range []Level{Int(0), Int(1), Int(1 << 53), String("/read"), String("4"), String("true"), String(`"<&>`),
		Bool(true), Bool(false)} {
		data, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		var back Level
		if err := json.Unmarshal(data, &back); err != nil || back != l {
			t.Errorf("%v became %s and then %v (%v)", l, data, back, err)
		}
	}
	if data, _ := json.Marshal(Levels{Workers: Int(4),
		Route: String("/read")}); string(data) != `{"route":"/read","workers":4}` {
		t.Errorf("levels are written as %s, not as bare scalars", data)
	}
	for _, bad := range []string{`null`, `1.5`, `[1]`, `{}`, `1e300`, `"`} {
		var l Level
		if err := json.Unmarshal([]byte(bad), &l); err == nil {
			t.Errorf("%s became the level %v", bad, l)
		}
	}
}

func TestKeyIsTheSameForTheSameLevels(t *testing.T) {
	for _, c := range []struct {
		levels Levels
		want   string
	}{
		{nil, ""},
		{Levels{Workers: Int(4)}, "workers=4"},
		// In the order of Names, whatever the order of the map.
		{Levels{Pipelining: Int(10), Connections: Int(100), Workers: Int(4), Route: String("/read"), Prefork: Bool(true)},
			"route=/read prefork=true workers=4 connections=100 pipelining=10"},
	} {
		for range 20 { // a map's order varies
			if got := c.levels.Key(); got != c.want {
				t.Errorf("key %q, want %q", got, c.want)
			}
		}
	}
}

func TestWithAndWithoutLeaveTheirLevelsAlone(t *testing.T) {
	base := Levels{Workers: Int(1), Route: String("/read")}
	if got := base.Without(Workers).Key(); got != "route=/read" {
		t.Errorf("without workers: %q", got)
	}
	if got := base.Without(Pipelining).Key(); got != "route=/read workers=1" {
		t.Errorf("without what is not there: %q", got)
	}
	if got := base.With(Levels{Workers: Int(2), Prefork: Bool(true)}).Key(); got != "route=/read prefork=true workers=2" {
		t.Errorf("overlaid: %q", got)
	}
	if got := base.With(nil).Key(); got != base.Key() {
		t.Errorf("overlaid by nothing: %q", got)
	}
	if got := base.Key(); got != "route=/read workers=1" {
		t.Errorf("the levels themselves became %q", got)
	}
	if names := Names(); !slices.Equal(names, Names()) || &names[0] == &Names()[0] {
		t.Error("Names gives away its own list")
	}
}
