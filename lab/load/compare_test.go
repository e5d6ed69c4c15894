package load

import (
	"fmt"
	"strings"
	"testing"
)

// The share of bodies that differ tells whether they are wrong or change by themselves.
func TestWhatBodiesAre(t *testing.T) {
	every := func(n int, other string) func(int) string {
		return func(i int) string {
			if i%n == n-1 {
				return other
			}
			return "hello"
		}
	}
	from := func(at int, other string) func(int) string {
		return func(i int) string {
			if i >= at {
				return other
			}
			return "hello"
		}
	}
	count := func(i int) string { return fmt.Sprintf("%05d", i) }
	for _, c := range []struct {
		name    string
		n       int
		body    func(int) string
		wrong   int64
		changes bool
		says    string
	}{
		{"equal", 10_000, from(10_000, ""), 0, false, ""},
		{"one in 1,000 of another length", 10_000, every(1000, "hell"), 10, false, "4 bytes of body, the first 32 had 5"},
		{"one in 1,000 of other bytes", 10_000, every(1000, "hallo"), 10, false, "differs from the first 32 at byte 2"},
		{"one in 1,000, among the first", 10_000, func(i int) string { return every(1000, "hallo")(i + 990) }, 10, false, "at byte 2"},
		{"one of 50", 50, every(50, "hallo"), 1, false, "at byte 2"},
		{"one in 10 of another length", 1000, every(10, "hell"), 0, true, ""},
		{"one in 10 of another length, late", 1000, func(i int) string { return every(10, "hell")(max(0, i-100)) }, 0, true, ""},
		{"one in 30 of other bytes", 1000, every(30, "hallo"), 0, true, ""},
		{"each", 1000, count, 0, true, ""},
		{"each, and one in 200 of another length", 1000, func(i int) string {
			return count(i)[:len(count(i))-(i%200)/199]
		}, 5, true, "4 bytes"},
		{"the hour, which ends in the middle", 1000, from(500, "hallo"), 0, true, ""},
		{"the hour, which ends with the load", 1000, from(998, "hallo"), 0, true, ""},
		{"a length that grows at the end", 1000, from(998, "hello!"), 0, true, ""},
		{"too few to tell", 31, every(31, "hallo"), 0, true, ""},
		{"one in 200 of long ones", 2000, func(i int) string {
			return strings.Repeat(every(200, "hell")(i), wholeBody)
		}, 10, false, "bytes of body"},
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
		if wrong != c.wrong || changes != c.changes || !strings.Contains(says, c.says) || says != "" && wrong == 0 {
			t.Errorf("%s: %d wrong, changes %v, %q", c.name, wrong, changes, says)
		}
		if c.changes && k.wants() && c.n > 500 && k.bytes.odd+k.lengths.odd > 10 {
			t.Errorf("%s: bodies are still kept", c.name)
		}
	}
}
