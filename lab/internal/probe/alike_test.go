package probe

import "testing"

// It leaves out and names what each server has of its own in a body, and reports every other
// difference.
func TestBodiesThatAreAlikeButForTheirOwn(t *testing.T) {
	const a, b = "127.0.0.1:29001", "127.0.0.1:29002"
	given := func(bodies ...string) (all []Given) {
		for _, body := range bodies {
			all = append(all, Given{Status: 200, Body: []byte(body)})
		}
		return all
	}
	for name, c := range map[string]struct {
		theirs, ours []Given
		own          string
		differ       bool
	}{
		"the same":             {given("x"), given("x"), "", false},
		"another":              {given("x"), given("y"), "", true},
		"its address":          {given("http://" + a + "/2"), given("http://" + b + "/2"), "their own address", false},
		"its port":             {given(`{"port":29001}`), given(`{"port":29002}`), "their own address", false},
		"the time in words":    {given("at 2026-11-29T10:00:01.5Z"), given("at 2026-11-29T10:00:02Z"), "the time", false},
		"the time as a number": {given(`{"t":1795944001.123}`), given(`{"t":1795944002}`), "the time", false},
		"a time that goes on":  {given("10:00:01", "10:00:02"), given("10:00:02", "10:00:02"), "the time", false},
		"both":                 {given(a + " 10:00:01"), given(b + " 10:00:02"), "their own address and the time", false},
		"more than the time":   {given("10:00:01 a"), given("10:00:02 b"), "", true},
		"what is random":       {given("ab", "cd"), given("ef", "gh"), Changing, false},
	} {
		own, d := Alike(c.theirs, c.ours, a, b)
		if (d != nil) != c.differ || !c.differ && own != c.own {
			t.Errorf("%s: %q, %v", name, own, d)
		}
	}
}
