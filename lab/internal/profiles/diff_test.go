package profiles

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// Windows of two and of four seconds of a made-up server, with a lock in each
// request and without.
func locked() *profile.Profile {
	b := newBuilder()
	b.add(600, "main.run fasthttp.serve main.pick sync.Lock")
	b.add(1000, "main.run fasthttp.serve bufio.Flush")
	b.add(10, "main.run fasthttp.serve main.log")
	b.add(30, "main.run fasthttp.serve main.date")
	b.add(360, "runtime.schedule")
	return b.p
}

func free() *profile.Profile {
	b := newBuilder()
	b.p.DurationNanos = 4e9
	b.add(100, "main.run fasthttp.serve main.pick main.next")
	b.add(2400, "main.run fasthttp.serve bufio.Flush")
	b.add(20, "main.run fasthttp.serve main.log")
	b.add(720, "runtime.schedule")
	b.add(160, "runtime.gc")
	return b.p
}

func diff(t *testing.T, before, after Side, least float64) DiffTree {
	t.Helper()
	d, err := Diff(before, after, "cpu", least)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (n DiffNode) find(t *testing.T, path ...string) DiffNode {
	t.Helper()
	for _, name := range path {
		found := false
		for _, c := range n.Children {
			if c.Symbol == name {
				n, found = c, true
				break
			}
		}
		if !found {
			t.Fatalf("%s has no child %s", n.Symbol, name)
		}
	}
	return n
}

func TestDiffIsByTheSecond(t *testing.T) {
	d := diff(t, Side{Profile: locked()}, Side{Profile: free()}, 0)
	// 2 s in a window of 2 s, and 3.4 s in one of 4 s.
	if d.Unit != "s/s" || d.TotalBefore != 1 || d.TotalAfter != 0.85 {
		t.Errorf("%v %s before, %v after", d.TotalBefore, d.Unit, d.TotalAfter)
	}
	for _, c := range []struct {
		path string
		v, d float64
	}{
		{"", 1, -0.15},
		{"main.run", 0.82, -0.19}, // 1.64/2, then 2.52/4
		{"main.run fasthttp.serve bufio.Flush", 0.5, 0.1},    // 1/2, 2.4/4
		{"main.run fasthttp.serve main.pick", 0.3, -0.275},   // 0.6/2, 0.1/4
		{"main.run fasthttp.serve main.log", 0.005, 0},       // 0.01/2, 0.02/4: a difference of exactly 0
		{"main.run fasthttp.serve main.date", 0.015, -0.015}, // gone
		{"main.run fasthttp.serve main.pick sync.Lock", 0.3, -0.3},
		{"runtime.schedule", 0.18, 0},
	} {
		if n := d.Root.find(t, strings.Fields(c.path)...); n.Value != c.v || n.Difference != c.d {
			t.Errorf("%q is %v and differs by %v, want %v and %v", c.path, n.Value, n.Difference, c.v, c.d)
		}
	}
	// Symbols that only the second profile has get no frame.
	if pick := d.Root.find(t, "main.run", "fasthttp.serve", "main.pick"); len(pick.Children) != 1 {
		t.Errorf("main.pick has %d children", len(pick.Children))
	}
	// Frames: all, run, serve, pick, Lock.
	if d.Depth != 5 {
		t.Errorf("depth %d", d.Depth)
	}
}

func TestDiffListsWhatChangedMost(t *testing.T) {
	d := diff(t, Side{Profile: locked()}, Side{Profile: free()}, 0.5)
	want := []DiffRow{
		{Symbol: "sync.Lock", Group: "rest", Before: 0.3, After: 0},
		{Symbol: "main.pick", Group: "handler", Before: 0.3, After: 0.025},
		{Symbol: "fasthttp.serve", Group: "rest", Before: 0.82, After: 0.63},
		{Symbol: "main.run", Group: "handler", Before: 0.82, After: 0.63},
		{Symbol: "bufio.Flush", Group: "http", Before: 0.5, After: 0.6},
		{Symbol: "runtime.gc", Group: "gc", Before: 0, After: 0.04},
		{Symbol: "main.next", Group: "handler", Before: 0, After: 0.025},
		{Symbol: "main.date", Group: "handler", Before: 0.015, After: 0},
		// main.log and runtime.schedule are unchanged.
	}
	if len(d.Top) != len(want) {
		t.Fatalf("%d rows: %+v", len(d.Top), d.Top)
	}
	for i := range want {
		if d.Top[i] != want[i] {
			t.Errorf("row %d is %+v, want %+v", i, d.Top[i], want[i])
		}
	}

	many := newBuilder()
	for i := range 30 {
		many.add(10, "main."+string(rune('a'+i)))
	}
	if d := diff(t, Side{Profile: many.p}, Side{Profile: newBuilder().p}, 0); len(d.Top) != 20 {
		t.Errorf("%d rows of 30 symbols", len(d.Top))
	}
}

func TestDiffFoldsWhatIsSmallBefore(t *testing.T) {
	d := diff(t, Side{Profile: locked()}, Side{Profile: free()}, 0.02)
	serve := d.Root.find(t, "main.run", "fasthttp.serve")
	// main.log and main.date: 0.005 and 0.015 before; 0.005 and 0 after.
	last := serve.Children[len(serve.Children)-1]
	if last.Symbol != Other || last.Value != 0.02 || last.Difference != -0.015 {
		t.Errorf("the last child is %+v", last)
	}
	if len(serve.Children) != 3 {
		t.Errorf("%d children", len(serve.Children))
	}
	for _, least := range []float64{0, 0.005, 0.02, 0.3, 0.9} {
		d := diff(t, Side{Profile: locked()}, Side{Profile: free()}, least)
		if !near(d.Root.Difference, d.TotalAfter-d.TotalBefore) || d.Root.Value != d.TotalBefore {
			t.Errorf("least %v: root %v differs by %v; totals are %v and %v", least, d.Root.Value, d.Root.Difference,
				d.TotalBefore, d.TotalAfter)
		}
		var walk func(DiffNode) float64
		walk = func(n DiffNode) (leaves float64) {
			var sum float64
			for _, c := range n.Children {
				sum += c.Value
				leaves += walk(c)
			}
			if sum > n.Value+1e-9 {
				t.Errorf("least %v: %s has %v, its children %v", least, n.Symbol, n.Value, sum)
			}
			// No frame can lose more than it had.
			if n.Difference < -n.Value {
				t.Errorf("least %v: %s had %v and lost %v", least, n.Symbol, n.Value, n.Difference)
			}
			return leaves + n.Value - sum
		}
		if leaves := walk(d.Root); !near(leaves, d.TotalBefore) {
			t.Errorf("least %v: self times sum to %v", least, leaves)
		}
	}
}

func TestDiffOfAProfileWithItselfIsNone(t *testing.T) {
	d := diff(t, Side{Profile: server()}, Side{Profile: server()}, 0)
	var walk func(DiffNode)
	walk = func(n DiffNode) {
		if n.Difference != 0 {
			t.Errorf("%s differs by %v", n.Symbol, n.Difference)
		}
		for _, c := range n.Children {
			walk(c)
		}
	}
	walk(d.Root)
	if len(d.Top) > 0 {
		t.Errorf("what changed most is %v", d.Top)
	}
}

// Three moments on one side and one on the other.
func TestDiffOfMomentsIsOfTheirMeans(t *testing.T) {
	heap := func(bytes int64) *profile.Profile {
		b := newBuilder()
		b.p.SampleType[1] = &profile.ValueType{Type: "inuse_space", Unit: "bytes"}
		b.add(1, "main.pool")
		b.p.Sample[0].Value[1] = bytes
		return b.p
	}
	d, err := Diff(Side{heap(1000), 3}, Side{heap(500), 1}, "inuse_space", 0)
	if err != nil {
		t.Fatal(err)
	}
	if d.Unit != "B" || d.TotalBefore != 333.333333 || d.TotalAfter != 500 || d.Root.Difference != 166.666667 {
		t.Errorf("%v %s, then %v: %v", d.TotalBefore, d.Unit, d.TotalAfter, d.Root.Difference)
	}
}

func TestDiffJSON(t *testing.T) {
	before, after := newBuilder(), newBuilder()
	before.add(30, "main.a main.b")
	after.add(10, "main.a")
	d := diff(t, Side{Profile: before.p}, Side{Profile: after.p}, 0.005)
	d.Name, d.Kind, d.Before, d.After = "CPU", "cpu", "c1", "c2"
	got, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"schema_version":1,"name":"CPU","kind":"cpu","before":"c1","after":"c2","unit":"s/s","total_before":0.015,"total_after":0.005,"least":0.005,"depth":3,` +
		`"root":{"n":"all","g":"rest","v":0.015,"d":-0.01,"c":[{"n":"main.a","g":"handler","v":0.015,"d":-0.01,"c":[{"n":"main.b","g":"handler","v":0.015,"d":-0.015}]}]},` +
		`"top":[{"n":"main.b","g":"handler","before":0.015,"after":0},{"n":"main.a","g":"handler","before":0.015,"after":0.005}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDiffOfNothing(t *testing.T) {
	d := diff(t, Side{Profile: newBuilder().p}, Side{Profile: locked()}, 0.005)
	if d.TotalBefore != 0 || d.TotalAfter != 1 || d.Root.Difference != 1 || len(d.Root.Children) != 0 ||
		d.Top[0].Before != 0 {
		t.Errorf("%+v", d)
	}
}

func TestWhatCannotBeCompared(t *testing.T) {
	endless := locked()
	endless.DurationNanos = 0
	negative := newBuilder()
	negative.add(-10, "main.a")
	for name, c := range map[string]struct {
		before, after Side
		kind          string
		least         float64
		says          string
	}{
		"sample type": {Side{Profile: locked()}, Side{Profile: free()}, "delay", 0,
			`before: flame: the profile has no sample type "delay"`},
		"negative": {Side{Profile: locked()}, Side{Profile: negative.p}, "cpu", 0,
			"after: flame: a sample is negative"},
		"without a length": {Side{Profile: endless}, Side{Profile: free()}, "cpu", 0,
			"before: flame: the profile does not say how long its window was"},
		"a window and moments": {Side{Profile: locked()}, Side{free(), 2}, "cpu", 0, "cannot be compared"},
	} {
		if _, err := Diff(c.before, c.after, c.kind, c.least); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v does not say %q", name, err, c.says)
		}
	}
}
