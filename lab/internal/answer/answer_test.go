package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
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
			if body := next(); s.Fault(body) != nil || s.Length(len(body)) != nil {
				t.Fatalf("%s: %v, %v: %.200s", route, s.Fault(body), s.Length(len(body)), body)
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
			if err := s.Fault(b); err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %s: %v", route, name, err)
			}
		}
	}
}

func TestSummariesThatCannotBe(t *testing.T) {
	s := set(t, "fiber", "/compute")
	body := string(bodies(t, "/compute")())
	var a catalog.Aggregate
	if err := json.Unmarshal([]byte(body), &a); err != nil {
		t.Fatal(err)
	}
	brand := func(i int) string { return fmt.Sprintf("%q", a.TopBrands[i].Brand) }
	for name, swap := range map[string][2]string{
		"fewer products":             {`"count":100,`, `"count":99,`},
		"a histogram of more":        {fmt.Sprintf(`"count":%d}`, a.Histogram[0].Count), fmt.Sprintf(`"count":%d}`, a.Histogram[0].Count+1)},
		"a brand that is not there":  {brand(0), `"Nobody and Sons"`},
		"a brand twice":              {brand(1), brand(0)},
		"brands of too many":         {fmt.Sprintf(`%s,"count":%d`, brand(0), a.TopBrands[0].Count), brand(0) + `,"count":100`},
		"a field more":               {`{"count"`, `{"more":1,"count"`},
		"spaces":                     {`,"median`, `, "median`},
		"a field twice":              {`{"count":100,`, `{"count":100,"count":100,`},
		"a number that was typed":    {`"count":100`, `"count":1e2`},
		"one of no products":         {body, `{}`},
		"half of one, of its length": {body[len(body)/2:], strings.Repeat(" ", len(body)-len(body)/2)},
	} {
		text := strings.Replace(body, swap[0], swap[1], 1)
		if text == body || s.Fault([]byte(text)) == nil {
			t.Errorf("%s: passes: %s", name, text)
		}
	}
}

func TestTheNullServerHasOneProduct(t *testing.T) {
	s, p := set(t, "null", "/read"), catalogue(t)
	read, _ := catalog.RouteOf("/read")
	right := 0
	for i := range catalog.Size {
		if s.Fault(p.Body(i)) == nil {
			right++
		}
	}
	if right != 1 || s.Fault(read.Middle(p)) != nil {
		t.Errorf("%d of the products are its answer", right)
	}
	if s.Fault([]byte(catalog.Simple)) == nil || set(t, "null", "/simple").Fault([]byte(catalog.Simple)) != nil {
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
			if s.Fault(body) != nil || s.Length(len(body)) != nil {
				t.Error("wrong")
			}
		}); n > 0 {
			t.Errorf("%s: %v allocations", route, n)
		}
	}
}
