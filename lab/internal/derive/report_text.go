package derive

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Limits of a report's text, in bytes: GitHub takes 65,536 characters as a comment. No
// text of others is longer than mostTheirs characters, and no list of them than
// mostNamed.
const (
	mostReport = 60_000
	mostLines  = 25
	mostTheirs = 160
	mostNamed  = 4
)

// theirs is text that somebody else wrote: a name, a title, a reason, a path.
type theirs string

// A line is made of the lab's own words, which have no markup, and of theirs.
type line []any

func (l line) text(markdown bool) string {
	escape := strict.Visible
	if markdown {
		escape = strict.Markdown
	}
	var b strings.Builder
	for _, part := range l {
		switch p := part.(type) {
		case theirs:
			b.WriteString(escape(string(p), mostTheirs))
		case line:
			b.WriteString(p.text(markdown))
		default:
			fmt.Fprint(&b, part)
		}
	}
	return b.String()
}

// A section is one question that a report answers.
type section struct {
	title string
	lines []line
}

// Text writes the report, as plain text or as Markdown in which nothing that others
// wrote is markup.
func (r *Report) Text(markdown bool) string {
	sections := r.sections()
	if len(sections) == 0 {
		return line{"Nothing moved since ", theirs(r.Base),
			": no verdict, claim, run, host, audit finding or published figure.\n"}.text(markdown)
	}
	var b strings.Builder
	summary, head, item := "%s\n\n", "%s\n", "  %s\n"
	if markdown {
		summary, head, item = "%s\n", "\n**%s**\n\n", "- %s\n"
		b.WriteString("### ")
	}
	b.WriteString(line{"What moved since ", theirs(r.Base), "\n\n"}.text(markdown))
	fmt.Fprintf(&b, summary, r.Summary())
	left := 0
	for i, s := range sections {
		// A section may use its part of what those before it left.
		room := b.Len() + (mostReport-b.Len())/(len(sections)-i)
		fmt.Fprintf(&b, head, s.title)
		shown := 0
		for ; shown < min(len(s.lines), mostLines); shown++ {
			text := fmt.Sprintf(item, s.lines[shown].text(markdown))
			if b.Len()+len(text) > room-200 {
				break
			}
			b.WriteString(text)
		}
		if n := len(s.lines) - shown; n > 0 {
			left += n
			fmt.Fprintf(&b, item, fmt.Sprintf("… and %d more like these", n))
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n%d lines were left out for length; git diff --stat %s -- data lab/experiments names every file.\n",
			left, r.Base)
	}
	return b.String()
}

// Summary counts what moved, in a line.
func (r *Report) Summary() string {
	var moved []HostMove
	apart := 0
	for _, m := range r.Moves {
		moved = append(moved, m.Hosts...)
		if m.Apart {
			apart++
		}
	}
	runs, trials, invalid, walls, printed := 0, 0, 0, 0, 0
	for _, b := range r.Batches {
		runs, trials, invalid, walls = runs+b.Runs, trials+b.Trials, invalid+b.Invalid, walls+b.ClientWalls
	}
	for _, p := range r.Printed {
		printed += p.New
	}
	out := []string{words.Count(len(r.Moves), "claim has", "claims have") + " another verdict"}
	if len(r.Moves) > 0 {
		out[0] += " on " + words.Count(machines(moved), "machine")
	}
	add := func(n int, one string, many ...string) {
		if n > 0 {
			out = append(out, words.Count(n, one, many...))
		}
	}
	add(apart, "of them on which machines disagree", "of them on which machines disagree")
	add(len(r.Faults), "file of before is refused", "files of before are refused")
	add(len(r.Changed)+len(r.Gone), "file that only grows was changed", "files that only grow were changed")
	add(len(r.ByCode), "verdict moved by the code alone", "verdicts moved by the code alone")
	add(len(r.New), "new claim")
	add(len(r.Edited), "edited claim")
	add(len(r.Reworded), "claim in other words", "claims in other words")
	add(len(r.Withdrawn), "withdrawn claim")
	add(len(r.Dropped), "claim gone without withdrawal", "claims gone without withdrawal")
	add(runs, "new run")
	add(len(r.Hosts), "new host")
	if trials > 0 {
		out = append(out, fmt.Sprintf("%s of %s new trials invalid", words.Thousands(invalid), words.Thousands(trials)),
			"the client was a wall in "+words.Thousands(walls))
	}
	add(len(r.Findings), "new audit finding")
	add(len(r.Settled), "audit finding gone", "audit findings gone")
	add(printed, "published figure added", "published figures added")
	return strings.Join(out, "; ") + "."
}

// sections are those that something has moved in.
func (r *Report) sections() (out []section) {
	add := func(title string, lines ...line) {
		if len(lines) > 0 {
			out = append(out, section{title, lines})
		}
	}
	add("Files of before that today's lab refuses; their runs are missing below", strict.Called(r.Faults,
		func(f archive.Fault) line { return line{theirs(f.Path), ": ", theirs(f.Err.Error())} })...)
	add("Files that nothing may change", append(paths(r.Gone, "deleted"), paths(r.Changed, "changed")...)...)
	add("Verdicts that moved", moveLines(r.Moves, "not measured", "no longer measured")...)
	add("Verdicts that only the code moved: what the lab of before makes of the data of before, and what today's makes "+
		"of the same", moveLines(r.ByCode, "not there", "not there")...)
	if r.Untold != "" {
		add("The lab of before derives nothing, so nothing tells what only the code moved", line{theirs(r.Untold)})
	}
	add("New claims", claimLines(r.New)...)
	add("Claims with other bars or another design than before", claimLines(r.Edited)...)
	add("Claims in other words than before, with the same bars", claimLines(r.Reworded)...)
	add("Withdrawn claims, and why", claimLines(r.Withdrawn)...)
	add("Claims that are gone and were not withdrawn", claimLines(r.Dropped)...)
	var hosts, runs, bounds, unmade []line
	for _, h := range r.Hosts {
		l := line{theirs(h.ID), ": ", theirs(h.Name)}
		if h.CPU != "" && !strings.Contains(h.Name, h.CPU) { // a name that the lab makes has it
			l = append(l, ", ", theirs(h.CPU), ", ", words.Count(h.Cores, "core"))
		}
		if twins := r.Twins[h.ID]; len(twins) > 0 {
			all := few(len(twins), twins, func(id string) line { return line{theirs(id)} })
			l = append(l, "; nothing tells it apart from ", all, ", so they may be one machine")
		}
		hosts = append(hosts, l)
	}
	byInvalid := slices.Clone(r.Batches)
	slices.SortStableFunc(byInvalid, func(a, b *Batch) int { return b.Invalid - a.Invalid })
	for _, b := range byInvalid {
		l := append(b.about(), ": ", words.Count(b.Runs, "run"), ", ", words.Count(b.Trials, "trial"))
		if b.Invalid > 0 {
			l = append(l, ", ", b.Invalid, " invalid (", counted(b.Gates), ")")
		}
		runs = append(runs, l)
		for _, why := range b.Unmade {
			unmade = append(unmade, append(b.about(), ": ", theirs(why)))
		}
	}
	for _, b := range r.Batches {
		if len(b.Bounds) > 0 {
			bounds = append(bounds, append(b.about(), ": ", counted(b.Bounds)))
		}
	}
	add("New hosts", hosts...)
	add("New runs", runs...)
	add("Runs that could not be made, or ended early", unmade...)
	add("What bounded the new trials", bounds...)
	add("New audit findings", findingLines(r.Findings)...)
	add("Audit findings that are gone", findingLines(r.Settled)...)
	add("Claims of texts that their figures decide otherwise", strict.Called(r.Texts, func(t TextMove) line {
		return line{"entry ", theirs(t.Entry), ": ", theirs(t.Says), ": ", theirs(t.From), " → ", theirs(t.To)}
	})...)
	var printed []line
	for _, p := range r.Printed {
		if p.New > 0 {
			printed = append(printed, line{"entry ", theirs(p.Entry), ": ", words.Count(p.New, "new figure")})
		}
		for _, c := range p.Changed {
			printed = append(printed, line{"entry ", theirs(p.Entry), ": changed: ", theirs(c)})
		}
	}
	add("Published figures", printed...)
	return out
}

func (b *Batch) about() line { return line{theirs(b.Experiment), " on ", theirs(b.Host)} }

func paths(names []string, what string) []line {
	return strict.Called(names, func(name string) line { return line{theirs(name), ": ", what} })
}

func claimLines(claims []ClaimOf) []line {
	return strict.Called(claims, func(c ClaimOf) line { return line{theirs(c.Experiment + "/" + c.ID), ": ", theirs(c.Says)} })
}

func findingLines(found []FindingOf) (out []line) {
	for _, f := range found {
		l := line{"entry ", theirs(f.Entry), ", ", theirs(f.Place), ": "}
		if f.Printed != "" {
			l = append(l, "printed ", theirs(f.Printed), ", ")
		}
		out = append(out, append(l, "recomputed ", theirs(fmt.Sprintf("%.5g %s", f.Recomputed.Value, f.Unit))))
	}
	return out
}

// moveLines has a line for each claim: from which verdict to which, on how many
// machines. A record that said nothing before, or says nothing now, has words of its
// own.
func moveLines(moves []Move, before, after string) (out []line) {
	type way struct{ from, to verdict.Verdict }
	for _, m := range moves {
		var order []way
		ways := map[way][]HostMove{}
		for _, h := range m.Hosts {
			w := way{h.From, h.To}
			if ways[w] == nil {
				order = append(order, w)
			}
			ways[w] = append(ways[w], h)
		}
		l := line{}
		if m.Apart {
			l = append(l, "machines disagree: ")
		}
		l = append(l, theirs(m.Experiment+"/"+m.Claim), ": ")
		for i, w := range order {
			if i > 0 {
				l = append(l, "; ")
			}
			// The verdicts of before may come from a file.
			l = append(l, theirs(cmp.Or(m.Whose.Word(w.from), before)), " → ", theirs(cmp.Or(m.Whose.Word(w.to), after)),
				" on ", words.Count(machines(ways[w]), "machine"), " (", few(mostNamed, ways[w], HostMove.about), ")")
		}
		out = append(out, append(l, "; now ", m.Says))
	}
	return out
}

func (h HostMove) about() line { return line{theirs(h.Pair)} }

// few lists so many things at the most.
func few[T any](most int, all []T, each func(T) line) (out line) {
	for i, one := range all {
		if i == most {
			return append(out, fmt.Sprintf(" and %d more", len(all)-i))
		}
		if i > 0 {
			out = append(out, ", ")
		}
		out = append(out, each(one)...)
	}
	return out
}

// counted lists what was counted, most frequent first; a bound that names the client
// comes before the others.
func counted(counts map[string]int) line {
	first := map[bool]int{true: -1}
	client := func(name string) bool { return strings.HasPrefix(name, "client-cpu") }
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(first[client(a)]-first[client(b)], counts[b]-counts[a], cmp.Compare(a, b))
	})
	return few(3*mostNamed, names, func(name string) line { return line{theirs(name), " ", counts[name]} })
}
