package answer

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/server/catalog"
	"github.com/line-rate/line-rate/lab/server/route"
)

func catalogue(t testing.TB) *catalog.Pool {
	t.Helper()
	p, err := pool()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func set(t testing.TB, server, route string) *Set {
	t.Helper()
	s, err := Of(server, route)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// bodies returns a function that gives the bodies of the server's own code for
// a route, one draw after the other.
func bodies(t testing.TB, route string) func() []byte {
	t.Helper()
	p, walk := catalogue(t), catalog.NewWalk(catalog.Seed)
	r, ok := catalog.RouteOf(route)
	if !ok {
		t.Fatalf("no route %s", route)
	}
	return func() []byte {
		switch {
		case r.Fixed != nil:
			return r.Fixed
		case r.Body != nil:
			return r.Body(p, walk.Next())
		}
		body, err := r.Make(p, walk)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
}

var routes = route.Paths(false)

func TestWhatTheServerAnswersIsRight(t *testing.T) {
	for _, route := range routes {
		s, next := set(t, "fiber", route), bodies(t, route)
		for range 2000 {
			if body := next(); s.Body(body) != nil || s.Length(len(body)) != nil {
				t.Fatalf("%s: %v, %v: %.200s", route, s.Body(body), s.Length(len(body)), body)
			}
		}
	}
}

func TestWhatIsNotTheRoutesIsWrong(t *testing.T) {
	for _, route := range routes {
		s, next := set(t, "fiber", route), bodies(t, route)
		body := next()
		changed := func(at int) []byte {
			b := bytes.Clone(body)
			b[at] ^= 1
			return b
		}
		for name, b := range map[string][]byte{
			"half":                body[:len(body)/2],
			"all but a byte":      body[:len(body)-1],
			"a byte more":         append(bytes.Clone(body), '\n'),
			"107 bytes":           bytes.Repeat([]byte("x"), 107),
			"nothing":             {},
			"HTML":                []byte("<html><body>It works!</body></html>"),
			"another first byte":  changed(0),
			"another middle byte": changed(len(body) / 2),
			"another last byte":   changed(len(body) - 1),
		} {
			if err := s.Body(b); err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %s: %v", route, name, err)
			}
		}
	}
}

func TestSummariesThatCannotBe(t *testing.T) {
	s := set(t, "fiber", "/compute")
	body := bodies(t, "/compute")()
	for name, change := range map[string]func(*catalog.Aggregate){
		"fewer products":            func(a *catalog.Aggregate) { a.Count-- },
		"a histogram of fewer":      func(a *catalog.Aggregate) { a.Histogram[0].Count-- },
		"a histogram of none":       func(a *catalog.Aggregate) { a.Histogram = nil },
		"a count below nought":      func(a *catalog.Aggregate) { a.Histogram[0].Count -= 101; a.Histogram[1].Count += 101 },
		"other parts":               func(a *catalog.Aggregate) { a.Histogram[1].From = 300 },
		"no brands":                 func(a *catalog.Aggregate) { a.TopBrands = a.TopBrands[:0] },
		"a brand that is not there": func(a *catalog.Aggregate) { a.TopBrands[0].Brand = "Nobody and Sons" },
		"brands in another order": func(a *catalog.Aggregate) {
			a.TopBrands[0], a.TopBrands[4] = a.TopBrands[4],
				a.TopBrands[0]
		},
		"a brand twice":              func(a *catalog.Aggregate) { a.TopBrands[1] = a.TopBrands[0] },
		"brands of too many":         func(a *catalog.Aggregate) { a.TopBrands[0].Count = 100 },
		"brands of too few products": func(a *catalog.Aggregate) { a.TopBrands[4].Count = 0 },
	} {
		var a catalog.Aggregate
		if err := json.Unmarshal(body, &a); err != nil {
			t.Fatal(err)
		}
		change(&a)
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Body(text); err == nil {
			t.Errorf("%s: passes: %s", name, text)
		}
	}
	for name, text := range map[string]string{
		"a field more":   strings.Replace(string(body), `{"count"`, `{"more":1,"count"`, 1),
		"spaces":         strings.Replace(string(body), `,"median`, `, "median`, 1),
		"twice":          strings.Replace(string(body), `{"count":100,`, `{"count":100,"count":100,`, 1),
		"a number typed": strings.Replace(string(body), `"count":100`, `"count":1e2`, 1),
	} {
		if text == string(body) || s.Body([]byte(text)) == nil {
			t.Errorf("%s: passes: %s", name, text)
		}
	}
}

func FuzzSummary(f *testing.F) {
	next := bodies(f, "/compute")
	for range 3 {
		f.Add(next())
	}
	s := set(f, "fiber", "/compute")
	f.Fuzz(func(t *testing.T, body []byte) {
		// A summary that passes must have consistent sums.
		if s.Body(body) != nil {
			return
		}
		var a catalog.Aggregate
		if err := json.Unmarshal(body, &a); err != nil {
			t.Fatal(err)
		}
		sum := 0
		for _, b := range a.Histogram {
			sum += b.Count
		}
		if a.Count != catalog.Sample || sum != a.Count {
			t.Errorf("passes: %s", body)
		}
	})
}

func TestTheNullServerHasOneProduct(t *testing.T) {
	s, p := set(t, "null", "/read"), catalogue(t)
	read, _ := catalog.RouteOf("/read")
	right := 0
	for i := range catalog.Size {
		if s.Body(p.Body(i)) == nil {
			right++
		}
	}
	if right != 1 || s.Body(read.Middle(p)) != nil {
		t.Errorf("%d of the products are its answer", right)
	}
	if s.Body([]byte(catalog.Simple)) == nil || set(t, "null", "/simple").Body([]byte(catalog.Simple)) != nil {
		t.Error("/simple is not /simple")
	}
}

func TestUnknownRoutes(t *testing.T) {
	for _, c := range [][2]string{{"fiber", "/healthz"}, {"fiber", "/read?x"}, {"fiber", "@127.0.0.1:1/read"},
		{"null", "/list"}, {"null", "/compute"}, {"null", "/read-gz"}, {"", "/read"}, {"producer", "/read"}} {
		if _, err := Of(c[0], c[1]); err == nil || !strings.Contains(err.Error(), "does not know") {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestLengthsAreSaid(t *testing.T) {
	for _, c := range []struct {
		route string
		n     int
		want  string
	}{
		{"/simple", 107, "107 bytes of body, the route's have 16"},
		{"/read", 107, "107 bytes of body, the route's have "},
	} {
		if err := set(t, "fiber", c.route).Length(c.n); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.route, err, c.want)
		}
	}
}

// This is the generator's hot path: a correct answer must allocate no memory.
func TestComparingTakesNoMemory(t *testing.T) {
	for _, route := range []string{"/simple", "/read", "/read-gz", "/list"} {
		s, body := set(t, "fiber", route), bodies(t, route)()
		if n := testing.AllocsPerRun(100, func() {
			if s.Body(body) != nil || s.Length(len(body)) != nil {
				t.Error("wrong")
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", route, n)
		}
	}
}
