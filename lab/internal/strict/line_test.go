package strict

import (
	"strings"
	"testing"
	"unicode"
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
		{"two\nlines", "U+000A"}, {"\ta", "U+0009"}, {"\x1b[31mred", "U+001B"}, {"a\x00", "U+0000"}, {"a\u2028b", "U+2028"},
		{"a\u202eb", "U+202E"}, {"a\u200bb", "U+200B"}, {"\ufeffa", "U+FEFF"}, {"a\xffb", "not UTF-8"},
		{strings.Repeat("é", LongestLine+1), "longer than 4096"},
	} {
		if err := CheckLine(c.s); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%.40q: %v, want %q", c.s, err, c.says)
		}
	}
}

func TestLineIsOneOfAtMostSoMany(t *testing.T) {
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
		got := Line(c.s, c.most)
		if got != c.want || CheckLine(got) != nil || utf8.RuneCountInString(got) > c.most {
			t.Errorf("%q: %q, want %q", c.s, got, c.want)
		}
	}
}

// hostile has what must not have an effect where text of others is shown.
var hostile = []string{"<script>alert(1)</script>", "a | b", "`` `x` ``", "\\`x", "[x](javascript:y)",
	"@line-rate/everyone #1 GH-1 0123456789abcdef0123456789abcdef01234567", "one\ntwo\r\n\n# head\n- item",
	"\x1b[2J\x1b]0;title\x07", "\u009b31m", "left\u202eright\u2066", "\x00", "\xff\xfe", "&lt;b&gt;", "zero\u200bwidth",
	"", "`", "``", "a`"}

func TestVisibleIsOneLineWithNothingHidden(t *testing.T) {
	for _, text := range hostile {
		if got := Visible(text, 200); strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q: %q", text, got)
		}
	}
	for text, want := range map[string]string{"plain: 5 µs": "plain: 5 µs", "a\nb\tc": `a\nb\tc`, "\x1b[2J": `\x1b[2J`,
		`\n`: `\\n`, "\xff": `\xff`, "\u202eabc": `\u202eabc`, "\U000e0041": `\U000e0041`} {
		if got := Visible(text, 200); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := Visible("ninety", 4); got != "nine…" {
		t.Errorf("%q", got)
	}
	got := Lines("a.toml: settings.\x1b[2J\u202e: \"\\u001b\" \tx\nb.toml: é\x7f")
	if want := "a.toml: settings.\\x1b[2J\\u202e: \"\\u001b\" \\tx\nb.toml: é\\x7f"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNoCellIsAFormula(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "wire 96 %": "wire 96 %", "a=b": "a=b", "-5": "-5", "+5.5e3": "+5.5e3", "=1": "'=1",
		"@SUM(1)*cmd|' /C calc'!A0": "'@SUM(1)*cmd|' /C calc'!A0", "+1+cmd": "'+1+cmd", "\t=1": "'\t=1", "-": "'-",
	} {
		if got := Cells([]string{text})[0]; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
