package derive

import (
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/pages"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

func TestASummaryGoesWithItsRecord(t *testing.T) {
	records := map[string]pages.OnHost{
		"x/shown":   {Verdict: verdict.Reproduced, For: 9, Blocks: 9},
		"x/most":    {Verdict: verdict.Reproduced, For: 41, Blocks: 42},
		"x/refuted": {Verdict: verdict.Refuted, Blocks: 8},
		"x/open":    {Verdict: verdict.Inconclusive, For: 3, Blocks: 5},
		"x/unrun":   {},
	}
	rests := func(claim, verdict string) string {
		return "+++\n[[rests]]\nclaim = \"" + claim + "\"\nverdict = \"" + verdict + "\"\n+++\nText.\n"
	}
	for _, c := range []struct {
		name, text string
		wrong      bool
		says       string // of what was found; empty for nothing
		err        string
	}{
		{name: "no front matter", text: "Text."},
		{name: "what the record says", text: rests("x/shown", "reproduced")},
		{name: "the record refutes it", text: rests("x/refuted", "reproduced"), wrong: true,
			says: "assume that x/refuted is reproduced, and the record says refuted"},
		{name: "the record leaves it open", text: rests("x/open", "refuted"), wrong: true,
			says: "is refuted, and the record says inconclusive"},
		{name: "nothing was run", text: rests("x/unrun", "reproduced"), wrong: true, says: "the record says nothing"},
		{name: "an open question was decided", text: rests("x/shown", "inconclusive"),
			says: "is inconclusive, and the record says reproduced"},
		{name: "no such claim", text: rests("x/else", "reproduced"), err: `page: [[rests]]: there is no claim "x/else"`},
		{name: "no such verdict", text: rests("x/shown", "shown"), err: `verdict "shown" of x/shown is none`},
		{name: "a figure's key", text: "+++\n[[figures]]\nname = \"a\"\ncolour = \"red\"\n+++\n",
			err: `[[figures]]: no key is called "colour"`},
		{name: "every block, and it is so", text: `It held in every block: {{< verdict exp="x" claim="shown" >}}.`},
		{name: "every block, but for one", text: `In every block it held ({{< verdict exp="x" claim="most" >}}).`, wrong: true,
			says: `the words "every block", and 41 of 42 blocks`},
		{name: "none of the blocks", text: `{{< verdict exp="x" claim="most" >}} with none of the blocks left.`, wrong: true,
			says: `"none of the blocks"`},
		{name: "the count of another sentence", text: `It held in all blocks. Then {{< verdict exp="x" claim="most" >}}.`},
		{name: "a stop in a shortcode ends no sentence", wrong: true, says: `"All blocks"`,
			text: `All blocks, {{< value exp="x" at="rate=0. 5" >}}, say {{< verdict exp="x" claim="most" >}}.`},
		{name: "a word in a shortcode is no word", text: `{{< claim title="every block" >}} {{< verdict exp="x" claim="most" >}}.`},
	} {
		front, err := frontOf([]byte(c.text))
		var got []Summary
		if err == nil {
			got, err = page{"page", []byte(c.text), front}.summaries(records)
		}
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v", c.name, err)
			}
			continue
		}
		if err != nil || (c.says == "") != (len(got) == 0) {
			t.Errorf("%s: %v, %v", c.name, got, err)
			continue
		}
		for _, s := range got {
			if s.Wrong() != c.wrong || !strings.Contains(s.String(), c.says) {
				t.Errorf("%s: wrong %v, %s", c.name, s.Wrong(), s)
			}
		}
	}
}

func TestAPageIsReadBySentences(t *testing.T) {
	got := sentences([]byte("One. Two {{< a b=\"1. 2\" >}}: three\n\nFour"))
	if want := []string{"One", "Two {{< a b=\"1. 2\" >}}", "three", "Four"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Whose a claim is stands in a page's front matter: the ledger follows it, though no run has changed.
func TestTheLedgerFollowsWhoseClaimsAre(t *testing.T) {
	root := archivetest.Clone(t)
	updated(t, root)
	page := root.Path("content", "journal", "11-three-flat-levers.md")
	archivetest.Write(t, page, "+++\nseries = [\"11-threads/threads-flat\"]\n+++\n")
	updated(t, root)
	if ledger := archivetest.Read(t, root.LedgerSheet()); !strings.Contains(ledger, "threads-flat,flat,series,") {
		t.Error("the claim is the journal's own still")
	}
}
