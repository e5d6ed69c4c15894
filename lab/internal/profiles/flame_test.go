package profiles

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// builder makes a profile from stacks, caller first, with their time in
// milliseconds.
type builder struct {
	p         *profile.Profile
	functions map[string]*profile.Function
}

func newBuilder() *builder {
	return &builder{
		p: &profile.Profile{
			SampleType:    []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
			DurationNanos: 2e9,
		},
		functions: map[string]*profile.Function{},
	}
}

// add adds a sample; in "a+b" the call of b is inlined into a.
func (b *builder) add(ms int64, stack string) {
	s := &profile.Sample{Value: []int64{ms / 10, ms * 1e6}}
	frames := strings.Fields(stack)
	for i := len(frames) - 1; i >= 0; i-- {
		l := &profile.Location{ID: uint64(len(b.p.Location) + 1)}
		names := strings.Split(frames[i], "+")
		for j := len(names) - 1; j >= 0; j-- {
			f := b.functions[names[j]]
			if f == nil {
				f = &profile.Function{ID: uint64(len(b.functions) + 1), Name: names[j]}
				b.functions[names[j]] = f
				b.p.Function = append(b.p.Function, f)
			}
			l.Line = append(l.Line, profile.Line{Function: f})
		}
		b.p.Location = append(b.p.Location, l)
		s.Location = append(s.Location, l)
	}
	b.p.Sample = append(b.p.Sample, s)
}

// server is a profile of one second of a made-up server.
func server() *profile.Profile {
	b := newBuilder()
	b.add(600, "runtime.goexit github.com/valyala/fasthttp.serve main.read")
	b.add(290, "runtime.goexit github.com/valyala/fasthttp.serve+bufio.Flush syscall.write")
	b.add(70, "runtime.gcBgMarkWorker runtime.scanobject runtime.memmove")
	b.add(20, "runtime.goexit github.com/valyala/fasthttp.serve main.read main.read")
	b.add(10, "runtime.goexit github.com/valyala/fasthttp.serve main.tiny")
	b.add(10, "runtime.goexit github.com/valyala/fasthttp.serve main.small runtime.memmove")
	return b.p
}

func prune(t *testing.T, p *profile.Profile, least float64) Tree {
	t.Helper()
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	tree, err := Prune(p, "cpu", least)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// find follows symbols down from the root.
func find(t *testing.T, n Node, path ...string) Node {
	t.Helper()
	for _, symbol := range path {
		at := -1
		for i, c := range n.Children {
			if c.Symbol == symbol {
				at = i
			}
		}
		if at < 0 {
			t.Fatalf("%s has no child %s", n.Symbol, symbol)
		}
		n = n.Children[at]
	}
	return n
}

func TestTimeIsKeptWhateverIsFolded(t *testing.T) {
	for _, least := range []float64{0, 0.005, 0.015, 0.05, 0.3, 0.9} {
		tree := prune(t, server(), least)
		if !near(tree.Total, 1) || !near(tree.Root.Value, 1) {
			t.Errorf("least %v: total %v, root %v; both are one second", least, tree.Total, tree.Root.Value)
		}
		var leaves float64
		var walk func(Node)
		walk = func(n Node) {
			var sum float64
			for _, c := range n.Children {
				sum += c.Value
				walk(c)
			}
			if sum > n.Value+1e-9 {
				t.Errorf("least %v: %s has %v, its children %v", least, n.Symbol, n.Value, sum)
			}
			if n.Symbol != Other && n.Value < least {
				t.Errorf("least %v: %s is left with %v", least, n.Symbol, n.Value)
			}
			leaves += n.Value - sum
		}
		walk(tree.Root)
		if !near(leaves, 1) {
			t.Errorf("least %v: self times sum to %v", least, leaves)
		}
	}
}

func TestTheSmallAreFoldedIntoOther(t *testing.T) {
	tree := prune(t, server(), 0.015)
	serve := find(t, tree.Root, "runtime.goexit", "github.com/valyala/fasthttp.serve")
	if other := find(t, serve, Other); !near(other.Value, 0.020) || len(other.Children) > 0 || other.Group != GroupRest {
		t.Errorf("other is %+v; it is two times 10 ms, with nothing above it", other)
	}
	if last := serve.Children[len(serve.Children)-1]; last.Symbol != Other {
		t.Errorf("the last sibling is %s", last.Symbol)
	}
	if whole := prune(t, server(), 0); len(find(t, whole.Root, "runtime.goexit",
		"github.com/valyala/fasthttp.serve").Children) != 4 {
		t.Error("with nothing to fold, four callees are left")
	}
	// Frames: all, goexit, serve, read, read.
	if tree.Depth != 5 {
		t.Errorf("depth %d", tree.Depth)
	}
}

func TestInlinedCallsAreFrames(t *testing.T) {
	tree := prune(t, server(), 0)
	write := find(t, tree.Root, "runtime.goexit", "github.com/valyala/fasthttp.serve", "bufio.Flush", "syscall.write")
	if !near(write.Value, 0.29) {
		t.Errorf("write has %v", write.Value)
	}
}

func TestTop(t *testing.T) {
	tree := prune(t, server(), 0.005)
	first := tree.Top[0]
	// 600 ms and 20 ms; the recursion's 20 ms are summed once.
	if first.Symbol != "main.read" || !near(first.Self, 0.62) || !near(first.Cumulative, 0.62) {
		t.Errorf("first is %+v", first)
	}
	var self float64
	for _, r := range tree.Top {
		self += r.Self
		if r.Symbol == "runtime.goexit" && (r.Self != 0 || !near(r.Cumulative, 0.93)) {
			t.Errorf("goexit is %+v", r)
		}
	}
	if !near(self, 1) {
		t.Errorf("self times sum to %v", self)
	}
	if tree.Samples != 100 || tree.DurationS != 2 {
		t.Errorf("%d samples in %v s", tree.Samples, tree.DurationS)
	}
}

// A recursive symbol counts once for a stack.
func TestCostliest(t *testing.T) {
	b := newBuilder()
	b.add(5, "main leaf")
	b.add(3, "main again again")
	b.add(4, "other")
	rows, err := Costliest(b.p, "cpu", 3)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s %.0f", r.Symbol, 1e3*r.Cumulative))
	}
	if want := "main 8, leaf 5, other 4"; strings.Join(got, ", ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if _, err := Costliest(b.p, "heap", 3); err == nil {
		t.Error("a sample type that is not there")
	}
}

func TestJSON(t *testing.T) {
	b := newBuilder()
	b.add(30, "main.a main.b")
	b.add(10, "main.a")
	got, err := json.Marshal(prune(t, b.p, 0.005))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"schema_version":1,"name":"","sample_type":"cpu","unit":"s","total":0.04,"samples":4,"duration_s":2,"least":0.005,"depth":3,` +
		`"root":{"n":"all","g":"rest","v":0.04,"c":[{"n":"main.a","g":"handler","v":0.04,"c":[{"n":"main.b","g":"handler","v":0.03}]}]},` +
		`"top":[{"n":"main.b","g":"handler","self":0.03,"cum":0.03},{"n":"main.a","g":"handler","self":0.01,"cum":0.04}]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// The mutex profile of a server without contention.
func TestAProfileWithoutSamplesIsARootWithoutWidth(t *testing.T) {
	got, err := json.Marshal(prune(t, newBuilder().p, 0.005))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"schema_version":1,"name":"","sample_type":"cpu","unit":"s","total":0,"duration_s":2,"least":0.005,"depth":1,` +
		`"root":{"n":"all","g":"rest","v":0},"top":[]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWhatCannotBeDrawn(t *testing.T) {
	negative := newBuilder()
	negative.add(-10, "main.a")
	for name, c := range map[string]struct {
		p     *profile.Profile
		kind  string
		least float64
		says  string
	}{
		"sample type": {server(), "heap", 0, "samples, cpu"},
		"negative":    {negative.p, "cpu", 0, "negative"},
	} {
		if _, err := Prune(c.p, c.kind, c.least); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v does not say %q", name, err, c.says)
		}
	}
}
