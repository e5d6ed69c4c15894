package setting

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestEachSettingStandsOnceAndItsKnobFits(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range table {
		if seen[r.Name] {
			t.Errorf("%s has two rows", r.Name)
		}
		seen[r.Name] = true
		// A text without limits could be markup on some page.
		if has := len(r.Words) > 0 || r.Pattern != nil; has != (r.Kind == "text") {
			t.Errorf("%s: words %v, pattern %v", r.Name, r.Words, r.Pattern)
		}
		if k := r.Knob; k != nil && (!r.takes(k.At()) || k.Script == "" || len(r.On) == 0) {
			t.Errorf("the knob of %s has no script, no topology, or a level that it cannot have", r.Name)
		}
	}
	for i, k := range Knobs() {
		if i > 0 && k.Service && !Knobs()[i-1].Service {
			t.Errorf("the service %s is stopped after kernel settings are written", k.Setting)
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
		{Variant, String("pool-1"), `setting "variant"`},
		{RPS, String("ff"), `setting "rps"`},
		{Workers, Int(-1), `setting "workers"`},
		{Workers, String("4"), "cannot be 4"},
		{Workers, Bool(true), "cannot be true"},
		{Route, String("/\x1b]0;pwn\a\n"), `cannot be /\x1b]0;pwn\a\n; give`},
		{Route, String("/" + strings.Repeat("a", 100_000)), "aaa…; give"},
		{Generator, String("\x1b[31m"), `cannot be \x1b[31m; give "http_load", `},
		{Route, Int(1), `setting "route" (path requested) cannot be 1`},
		{Prefork, String("true"), `setting "prefork"`},
		{Workers, Level{}, "(unset)"},
		{"worker", Int(1), `unknown setting "worker"; did you mean "workers"`},
		{"Workers", Int(1), `unknown setting "Workers"`},
	} {
		err := Check(c.name, c.level)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s = %v: %v, want %q", c.name, c.level, err, c.says)
		}
	}
}

// A route follows an address. Without a leading slash it could send the load to another server, and
// other characters could be markup.
func TestRoutesAndCoresHaveNoOtherMeaning(t *testing.T) {
	for name, levels := range map[string][2][]string{
		Route: {{"/", "/read", "/v1.0/a_b-c/", "60 % /read + 40 % /list of 20 to 30"},
			{"", "read", "@127.0.0.1:19999/x", "/@127.0.0.1:19999/x", "//127.0.0.1:19999/x", "/a//b", ":80/x",
				"/read?n=1", "/a b", "/a\n", "/%2e", "\\\\x", "/<img src=x>", `/"x"`, "/'x'", "/a&b", "/é", "60 % /read",
				"60 % @x + 40 % /y", "60 % /read + 40 % /<b>"}},
		ServerCPUs: {{"0", "0-5", "0-5,8,10-11"}, {"", "all", "0-", "-1", "0,", "0 1", "0;reboot", "0-5<b>", "100000"}},
	} {
		for i, each := range levels {
			for _, level := range each {
				if err := Check(name, String(level)); (err == nil) != (i == 0) {
					t.Errorf("%s %q: %v", name, level, err)
				}
			}
		}
	}
}

func TestALevelIsAScalarAndTheSameInJSON(t *testing.T) {
	for _, c := range []struct {
		in   any
		want Level
	}{{int64(3), Int(3)}, {3.0, Int(3)}, {math.Copysign(0, -1), Int(0)}, {1 << 53 * 1.0, Int(1 << 53)}, {"4", String("4")},
		{`"<&>`, String(`"<&>`)}, {true, Bool(true)}} {
		l, err := ParseLevel(c.in)
		if err != nil || l != c.want {
			t.Errorf("%v (%T): %v, %v", c.in, c.in, l, err)
		}
		data, _ := json.Marshal(l)
		var back Level
		if err := json.Unmarshal(data, &back); err != nil || back != l {
			t.Errorf("%v became %s and then %v (%v)", l, data, back, err)
		}
	}
	for _, in := range []any{nil, 1.5, math.NaN(), math.Inf(1), 1e300, []any{1}, map[string]any{}, uint8(1)} {
		if got, err := ParseLevel(in); err == nil {
			t.Errorf("%v (%T) became the level %v", in, in, got)
		}
	}
	for _, bad := range []string{`null`, `1.5`, `[1]`, `{}`, `1e300`, `"`} {
		var l Level
		if err := json.Unmarshal([]byte(bad), &l); err == nil {
			t.Errorf("%s became the level %v", bad, l)
		}
	}
}

func TestLevelsAreOrdered(t *testing.T) {
	for _, c := range [][2]Level{{Int(9), Int(10)}, {Int(0), Int(1)}, {Bool(false), Bool(true)},
		{String("gofakeit"), String("pool")}, {Level{}, Int(-1)}, {Level{}, String("")}} {
		if c[0].Compare(c[1]) >= 0 || c[1].Compare(c[0]) <= 0 || c[0].Compare(c[0]) != 0 {
			t.Errorf("%v before %v", c[0], c[1])
		}
	}
	a, b := Levels{Workers: Int(2)}, Levels{Workers: Int(2), Prefork: Bool(false)}
	if a.Compare(b, []string{Workers, Prefork}) >= 0 || a.Compare(b, []string{Workers}) != 0 {
		t.Error("what is not set does not come first")
	}
}

func TestLevelsCombine(t *testing.T) {
	all := Levels{Pipelining: Int(10), Connections: Int(100), Workers: Int(4), Route: String("/read"), Prefork: Bool(true)}
	for range 20 { // a map's order varies
		if got := all.Key(); got != "route=/read prefork=true workers=4 connections=100 pipelining=10" {
			t.Fatal(got)
		}
	}
	base := Levels{Workers: Int(1), Route: String("/read")}
	for got, want := range map[string]string{
		base.Without(Workers).Key():                                          "route=/read",
		base.With(Levels{Workers: Int(2), Prefork: Bool(true)}).Key():        "route=/read prefork=true workers=2",
		base.With(nil).Key():                                                 "route=/read workers=1",
		LimitTo(Levels{RFS: Bool(false), SinkLatencyMs: Int(1000)}):          "where RFS is off and sink latency is 1,000",
		JoinLevel(Connections, Int(20)) + ", " + JoinLevel(RPS, Bool(true)):  "20 connections, RPS on",
		JoinLevel(SinkLatencyMs, Int(5)) + ", " + JoinOther(Workers, Int(2)): "sink latency 5 ms, 2",
		Title(ClientWorkers) + ", " + LevelCell(Bool(true)):                  "Client workers, yes",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if more := base.With(Levels{Prefork: Bool(true)}); !base.In(more) || more.In(base) || base.In(all) {
		t.Error("which levels are among others")
	}
}
