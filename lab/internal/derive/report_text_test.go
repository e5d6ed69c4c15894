package derive

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/audit"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

// full is a report with n of everything, in which each text that somebody else wrote is
// the given one.
func full(n int, text string) *Report {
	r := &Report{Base: "0123456789ab"}
	for i := range n {
		move := Move{Experiment: text, Claim: text, Says: "reproduced on 1 of 1 machine", Apart: i == 0,
			Hosts: []HostMove{{text, text, verdict.Verdict(text), verdict.Reproduced}}}
		claim := ClaimOf{text, text, text}
		finding := FindingOf{text, audit.Finding{ID: text, Place: text, Printed: text, Unit: metric.Unit(text)}}
		r.Faults = append(r.Faults, archive.Fault{Path: text, Err: errors.New(text)})
		r.Changed, r.Gone, r.Untold = append(r.Changed, text), append(r.Gone, text), text
		r.Moves, r.ByCode = append(r.Moves, move), append(r.ByCode, move)
		r.New, r.Edited, r.Withdrawn, r.Dropped = append(r.New, claim), append(r.Edited, claim), append(r.Withdrawn, claim),
			append(r.Dropped, claim)
		r.Batches = append(r.Batches, &Batch{Experiment: text, Host: text, Runs: 1, Trials: 20, Invalid: 2,
			Gates: map[string]int{text: 2}, Bounds: map[string]int{text: 18}, Unmade: []string{text}})
		r.Hosts = append(r.Hosts, &host.Profile{ID: text, Name: text, CPU: text, Cores: 2})
		r.Twins = map[string][]string{text: {text, text}}
		r.Findings, r.Settled = append(r.Findings, finding), append(r.Settled, finding)
		r.Texts = append(r.Texts, TextMove{text, text, text, text})
		r.Printed = append(r.Printed, Print{Entry: text, New: 4, Changed: []string{text}})
	}
	return r
}

// Each field that somebody else wrote is shown in a line as the text that it is.
func TestNothingOfOthersIsMarkup(t *testing.T) {
	plain := full(1, "plain").Text(false)
	for _, text := range []string{
		"<script>alert(1)</script>", "</code><img src=x onerror=y>", "a | b |", "`` `x` ``",
		"one\ntwo\r\n# head\n- item\n```", "@line-rate/everyone #1", "![x](https://example.org)",
		"https://example.org www.example.org", "\x1b[2J\x1b]0;title\x07", "\u009b31m", "left\u202eright", "\xff\x00",
		"&lt;b&gt;", "*b* __i__ ~~s~~", "<!--",
	} {
		r := full(1, text)
		says := r.Text(false)
		for _, c := range says {
			if c != '\n' && !unicode.IsPrint(c) {
				t.Errorf("%q: the plain report has %U", text, c)
			}
		}
		if got, want := strings.Count(says, "\n"), strings.Count(plain, "\n"); got != want {
			t.Errorf("%q: %d lines, with a plain text %d", text, got, want)
		}
		marked := r.Text(true)
		rest := regexp.MustCompile("`[^`\n]+`").ReplaceAllString(marked, "")
		if strings.ContainsAny(rest, "<>`|@[]\\\r\x1b") || strings.Contains(rest, "://") || strings.Contains(rest, "www.") {
			t.Errorf("%q: markup in\n%s", text, marked)
		}
		// What is shown of the text is the same in both, in as many places.
		shown := strings.Trim(line{theirs(text)}.text(true), "`")
		if got, want := strings.Count(marked, shown), strings.Count(plain, "plain"); got < want*3/4 ||
			!strings.Contains(says, strings.ReplaceAll(shown, `\u0060`, "`")) {
			t.Errorf("%q stands in %d places, plain in %d", text, got, want)
		}
	}
}

var andMore = regexp.MustCompile(`… and ([0-9]+) more like these`)

// GitHub refuses a comment of more than 65,536 characters.
func TestReportOfAThousandRunsIsBounded(t *testing.T) {
	for name, text := range map[string]string{
		"usual": "11-threads", "long": strings.Repeat("x", 4000), "hostile": strings.Repeat("\U0010ffff", 4000),
		"marked": strings.Repeat("<", 4000),
	} {
		for _, markdown := range []bool{false, true} {
			r := full(1000, text)
			says := r.Text(markdown)
			if len(says) > 65_000 {
				t.Errorf("%s: %d bytes", name, len(says))
			}
			left, lines := 0, 0
			for _, m := range andMore.FindAllStringSubmatch(says, -1) {
				n, _ := strconv.Atoi(m[1])
				left += n
			}
			for _, s := range r.sections() {
				lines += len(s.lines)
			}
			start := "\n  "
			if markdown {
				start = "\n- "
			}
			if shown := strings.Count(says, start) - len(andMore.FindAllString(says, -1)); shown+left != lines || shown < 10 {
				t.Errorf("%s: %d lines shown and %d left out of %d", name, shown, left, lines)
			}
			if want := fmt.Sprintf("\n%d lines were left out for length; ", left); !strings.Contains(says, want) {
				t.Errorf("%s: no %q", name, want)
			}
			if !strings.Contains(says, "1,000 new runs") || !strings.Contains(says, "2,000 of 20,000 new trials invalid") {
				t.Errorf("%s: the summary has not everything: %s", name, says[:300])
			}
		}
	}
}

func TestDisagreementComesFirst(t *testing.T) {
	one := func(of verdict.Verdict, host string) pages.OnHost {
		return pages.OnHost{Host: host, ClientHost: host, Verdict: of}
	}
	sum := func(id string, hosts ...pages.OnHost) pages.Summed {
		out := pages.Summed{ID: id, Verdicts: map[verdict.Verdict]int{}, Hosts: hosts, Says: "s"}
		for _, h := range hosts {
			out.Verdicts[h.Verdict]++
		}
		return out
	}
	from := map[string]*pages.Hosts{"x": {Claims: []pages.Summed{
		sum("still", one(verdict.Refuted, "a")), sum("wide", one(verdict.Inconclusive, "a"), one(verdict.Inconclusive, "b")),
		sum("apart", one(verdict.Reproduced, "a")), sum("gone", one(verdict.Reproduced, "a")),
	}}}
	two := pages.OnHost{Host: "c", ClientHost: "d", Verdict: verdict.Reproduced}
	to := map[string]*pages.Hosts{"x": {Claims: []pages.Summed{
		sum("still", one(verdict.Refuted, "a")), sum("new", one(verdict.Reproduced, "a")),
		sum("wide", one(verdict.Reproduced, "a"), one(verdict.Reproduced, "b"), one(verdict.Reproduced, "c"), two),
		sum("apart", one(verdict.Reproduced, "a"), one(verdict.Refuted, "b")), sum("gone"),
	}}}
	var got []string
	for _, l := range moveLines(moves(from, to, []string{"x", "y"}), "not measured", "no longer measured") {
		got = append(got, l.text(false))
	}
	// c with itself and c with d are two records of one machine.
	want := []string{
		"machines disagree: x/apart: not measured → refuted on 1 machine (b); now s",
		"x/wide: inconclusive → confirmed on 2 machines (a, b); not measured → confirmed on 1 machine (c, c with d); now s",
		"x/new: not measured → confirmed on 1 machine (a); now s",
		"x/gone: confirmed → no longer measured on 1 machine (a); now s",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
