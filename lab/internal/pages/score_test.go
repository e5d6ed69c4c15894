package pages

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/verdict"
)

func TestTheTallyTellsWhoseClaimsTheyAre(t *testing.T) {
	on := func(host string, v verdict.Verdict) OnHost { return OnHost{Host: host, Verdict: v} }
	l := &Ledger{Claims: []LedgerClaim{
		{Whose: Series, Machines: []OnHost{on("a", verdict.Refuted), on("b", verdict.Confirmed)}},
		{Whose: Own, Machines: []OnHost{on("a", verdict.Confirmed)}},
		{Whose: Own, Machines: []OnHost{on("a", verdict.Confirmed)}},
		{Whose: Own},
	}}
	s := l.Score()
	if s.Title != "4 verdicts from 2 machines, on 4 claims" || len(s.Tallies) != 2 {
		t.Fatalf("%+v", s)
	}
	theirs, ours := s.Tallies[0], s.Tallies[1]
	if theirs.Title != "1 claim of a text that the journal tests" || theirs.Counts[0].N != 1 || theirs.Counts[1].N != 1 {
		t.Errorf("%+v", theirs)
	}
	if ours.Title != "3 claims of the journal’s own" || ours.Counts[0] != (Counted{verdict.Confirmed, 2}) {
		t.Errorf("%+v", ours)
	}
	if n := strings.Count(theirs.Bar, "<rect"); n != 2 || !strings.Contains(theirs.Bar, `x="172"`) {
		t.Errorf("two halves are drawn as %s", theirs.Bar)
	}
	if ours.Bar != `<rect class="part-confirmed" x="0" y="5" width="343" height="16"/>` {
		t.Errorf("%s", ours.Bar)
	}
	if empty := NewLedger().Score(); empty.Title != "" {
		t.Errorf("without a verdict there is a title, %q", empty.Title)
	}
}
