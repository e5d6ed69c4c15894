package load

import (
	"fmt"
	"strings"
	"testing"
)

// The share of bodies that differ tells whether they are wrong or change by themselves.
func TestWhatBodiesAre(t *testing.T) {
	hello := func(odd bool, other string) string {
		if odd {
			return other
		}
		return "hello"
	}
	for _, c := range []struct {
		name    string
		n       int
		body    func(i int) string
		wrong   int64
		changes bool
		says    string
	}{
		{"equal", 10_000, func(int) string { return "hello" }, 0, false, ""},
		{"one in 1,000 of another length", 10_000, func(i int) string { return hello(i%1000 == 999, "hell") }, 10, false,
			"4 bytes of body, the first 32 had 5"},
		{"one in 1,000 of other bytes", 10_000, func(i int) string { return hello(i%1000 == 999, "hallo") }, 10, false,
			"differs from the first 32 at byte 2"},
		{"the same, also among the first", 10_000, func(i int) string { return hello(i%1000 == 9, "hallo") }, 10, false, "at byte 2"},
		{"one of 50", 50, func(i int) string { return hello(i == 48, "hallo") }, 1, false, "at byte 2"},
		{"one in 10 of another length", 1000, func(i int) string { return hello(i%10 == 9, "hell") }, 0, true, ""},
		{"the same, and not among the first", 1000, func(i int) string { return hello(i > 100 && i%10 == 5, "hell") }, 0, true, ""},
		{"one in 30 of other bytes", 1000, func(i int) string { return hello(i%30 == 9, "hallo") }, 0, true, ""},
		{"each, and one in 200 of another length", 1000, func(i int) string {
			return fmt.Sprintf("%05d", i)[i%200/199:]
		}, 5, true, "4 bytes"},
		{"the hour, which ends in the middle", 1000, func(i int) string { return hello(i >= 500, "hallo") }, 0, true, ""},
		{"the hour, which ends with the load", 1000, func(i int) string { return hello(i >= 998, "hallo") }, 0, true, ""},
		{"a length that grows at the end", 1000, func(i int) string { return hello(i >= 998, "hello!") }, 0, true, ""},
		{"too few to tell", 31, func(i int) string { return hello(i == 9, "hallo") }, 0, true, ""},
		{"long ones", 2000, func(i int) string { return strings.Repeat(hello(i%200 == 99, "hell"), wholeBody) }, 10, false, "bytes"},
	} {
		k := comparer{}
		for i := range c.n {
			var kept []byte
			body := c.body(i)
			if k.wants() {
				kept = []byte(body)
			}
			k.take(kept, int64(len(body)))
		}
		wrong, says, changes := k.result()
		if wrong != c.wrong || changes != c.changes || !strings.Contains(says, c.says) {
			t.Errorf("%s: %d wrong, changes %v, %q", c.name, wrong, changes, says)
		}
	}
}
