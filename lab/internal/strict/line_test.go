package strict

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCheckRefusesWhatCannotBeSeen(t *testing.T) {
	for _, s := range []string{"", "plain", "4.4 % of the server’s cores · 1 µs → 2 µs", "a b", "<b>&\"'", "日本語", "\uFFFD",
		strings.Repeat("é", LongestLine)} {
		if err := CheckLine(s); err != nil {
			t.Errorf("%.40q: %v", s, err)
		}
	}
	for _, c := range []struct{ s, says string }{
		{"two\nlines", "U+000A"}, {"\ta", "U+0009"}, {"a\r", "U+000D"}, {"\x1b[31mred", "U+001B"}, {"a\x00", "U+0000"},
		{"a\x7f", "U+007F"},
		{"a\u0085b", "U+0085"}, {"a\u2028b", "U+2028"}, {"a\u202eb", "U+202E"}, {"a\u2066b", "U+2066"},
		{"a\u200bb", "U+200B"}, {"\ufeffa", "U+FEFF"},
		{"a\xffb", "not UTF-8"}, {strings.Repeat("é", LongestLine+1), "longer than 4096"},
	} {
		if err := CheckLine(c.s); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.40q: %v, want %q", c.s, err, c.says)
		}
	}
}

func TestOfMakesALine(t *testing.T) {
	for _, c := range []struct {
		s    string
		most int
		want string
	}{
		{"panic: x\n\tgoroutine 1", 100, "panic: x goroutine 1"},
		{"\x1b[31mred\x1b[0m ", 100, "[31mred [0m"},
		{"a\xffb\u202ec", 100, "a\uFFFDb c"},
		{"ééééé", 5, "ééééé"},
		{"éééééé", 5, "éééé…"},
		{"", 5, ""},
	} {
		if got := Line(c.s, c.most); got != c.want {
			t.Errorf("%q: %q, want %q", c.s, got, c.want)
		}
	}
}

func FuzzOf(f *testing.F) {
	f.Add("a\nb", 3)
	f.Add("\xff\u202e", 1)
	f.Fuzz(func(t *testing.T, s string, most int) {
		most = max(1, min(most, LongestLine))
		got := Line(s, most)
		if err := CheckLine(got); err != nil {
			t.Errorf("%q became %q, which %v", s, got, err)
		}
		if n := utf8.RuneCountInString(got); n > most {
			t.Errorf("%q became %d characters, more than %d", s, n, most)
		}
	})
}
