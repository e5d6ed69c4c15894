package site

// This file reads references and finds them in pages. A page says which number it wants, and the lab writes it:
//
//	{{< n "12-write-buffer ratio server_cpu_per_request_s write_buffer=8192/4096 route=/read" >}}
//
// A reference is a subject, a form, and what the form takes: names, then levels. A subject is an experiment, which
// means all evidence of the machine that pages show; a text, as 12; or a table of one, as 12/ramp. The forms are in
// number_forms.go. A level is NAME=VALUE, or NAME=A/B to compare A with B; '…' encloses a value with a space or a
// slash. Other subjects have keys alone, as "lab alpha", which collectKeys lists.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/line-rate/line-rate/lab/confseq"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/law/audit"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Number replaces a reference on a page: a text, a link, a badge, a list of badges, or a table.
type Number struct {
	Text    string          `json:"text,omitempty"`
	Value   *float64        `json:"value,omitempty"`   // of a text, in base units; absent for what is no number
	To      string          `json:"to,omitempty"`      // of a link or a badge: a path of the site
	Title   string          `json:"title,omitempty"`   // of a link or a badge: what it leads to
	Verdict verdict.Verdict `json:"verdict,omitempty"` // of a badge
	List    []Number        `json:"list,omitempty"`
	Table   *Table          `json:"table,omitempty"`
}

// A reference is one that was read.
type reference struct {
	subject, form string
	tail          string // what follows them, as it was written
	names         []string
	levels        map[string]string // of the condition
	base          map[string]string // of the one that it is compared with: the same where no other level is given
}

var (
	word  = regexp.MustCompile(`(?:[^ ']|'[^']*')+`)
	level = regexp.MustCompile(`^([a-z_]+)=('[^']*'|/?[^/']+)(?:/('[^']*'|/?[^/']+))?$`)
)

// parseReference reads a reference. It knows neither subjects nor forms.
func parseReference(text string) (r reference, err error) {
	r.levels, r.base = map[string]string{}, map[string]string{}
	words := word.FindAllString(text, -1)
	switch {
	case len(words) == 0:
		return r, errors.New("it is empty; write an experiment, a form such as value, and what the form takes")
	case strings.Count(text, "'")%2 == 1:
		return r, errors.New("a ' has no other; two of them enclose a value with spaces")
	}
	r.subject, r.tail = words[0], strings.Join(words[min(2, len(words)):], " ")
	for i, w := range words[1:] {
		switch m := level.FindStringSubmatch(w); {
		case m != nil && r.levels[m[1]] != "":
			return r, fmt.Errorf("%s is given twice", m[1])
		case m != nil:
			r.levels[m[1]] = strings.Trim(m[2], "'")
			r.base[m[1]] = strings.Trim(cmp.Or(m[3], m[2]), "'")
		case strings.Contains(w, "="):
			return r, fmt.Errorf("%q is no level; write NAME=VALUE, or NAME=A/B to compare A with B", w)
		case i == 0:
			r.form = w
		default:
			r.names = append(r.names, w)
		}
	}
	return r, nil
}

// call finds the shortcodes that place a reference.
var call = regexp.MustCompile(`\{\{<\s*(?:n|table|found)\s+(?:of=)?"([^"]*)"`)

// numbers resolves the references of all pages into numbers.json. The error has a line for each that cannot be, with
// its place.
func (s *Site) numbers() error {
	if err := s.collectKeys(); err != nil {
		return err
	}
	found, faults := map[string]Number{}, []error(nil)
	for _, p := range s.pages {
		for _, m := range call.FindAllSubmatchIndex(p.text, -1) {
			text := string(p.text[m[2]:m[3]])
			n, err := s.resolve(text)
			if found[text] = n; err != nil {
				line := 1 + bytes.Count(p.text[:m[0]], []byte("\n"))
				faults = append(faults, fmt.Errorf("%s:%d: %q: %w", p.path, line, text, err))
			}
		}
	}
	return errors.Join(append(faults, s.encode("numbers.json", found))...)
}

// A query is a reference with its subject.
type query struct {
	reference
	kind string                 // of the subject
	x    *experiment.Experiment // of a table the one that repeats it; nil for a text
	e    *evidence              // nil where nobody measured
	text *audit.File            // nil but for a text
}

// subjects are all experiments, texts and tables.
func (s *Site) subjects() map[string]query {
	all := map[string]query{}
	for _, a := range s.Audits {
		all[a.Entry] = query{kind: aText, text: a}
	}
	for _, x := range s.Experiments {
		all[x.Name] = query{kind: anExperiment, x: x, e: s.shown[x.Name]}
		for _, e := range s.printed[x.Name] {
			all[strings.Replace(e.published, "-", "/", 1)] = query{kind: aTable, x: x, e: e}
		}
	}
	return all
}

// resolve finds what a reference means.
func (s *Site) resolve(text string) (Number, error) {
	r, err := parseReference(text)
	if err != nil {
		return Number{}, err
	}
	if of := s.keys[r.subject]; of != nil {
		n, ok := of[r.form]
		if !ok || r.tail != "" {
			err = fmt.Errorf("%s has no %q\n  %s", r.subject, strings.TrimSpace(r.form+" "+r.tail),
				strict.Instead(r.form, slices.Sorted(maps.Keys(of))))
		}
		return n, err
	}
	q, ok := s.queries[r.subject]
	if !ok {
		known := slices.Concat(slices.Sorted(maps.Keys(s.queries)), slices.Sorted(maps.Keys(s.keys)))
		return Number{}, fmt.Errorf("there is no experiment, text or table %q\n  %s", r.subject,
			strict.Instead(r.subject, known))
	}
	q.reference = r
	f := forms[r.form]
	switch n := len(r.names); {
	case !strings.Contains(f.of, q.kind):
		fits := strict.Filter(slices.Sorted(maps.Keys(forms)), func(name string) bool {
			return strings.Contains(forms[name].of, q.kind)
		})
		return Number{}, fmt.Errorf("no %s has the form %q\n  %s", q.kind, r.form, strict.Instead(r.form, fits))
	case n < f.least || n > f.most:
		return Number{}, fmt.Errorf("%s takes %s", r.form, f.takes)
	}
	return f.give(q)
}

// collectKeys makes what references with a key alone mean, by subject and key:
//
//	lab KEY          a threshold of the method: alpha, cpu_saturated, …
//	claims KEY       how many there are: all, or here, on two cores
//	simulation KEY   a figure of the simulated campaigns
//	BOARD KEY        how many rows of a public board's table could be held against Little's law, and break it
//	entry NUMBER     a link; Entry NUMBER at the beginning of a sentence
//	MACHINE          a link; with a key how many cores it has, or what its line carries
func (s *Site) collectKeys() error {
	s.keys = map[string]map[string]Number{"lab": thresholds(), "claims": s.countClaims(),
		"simulation": {}, "entry": {}, "Entry": {}}
	var simulated struct {
		Shown map[string]string `json:"shown"`
	}
	if err := json.Unmarshal(verdict.Simulation, &simulated); err != nil {
		return err
	}
	for key, text := range simulated.Shown {
		s.keys["simulation"][key] = Number{Text: text}
	}
	for number, n := range s.entries {
		link := Number{Text: strings.ToLower(n.Said), To: n.To, Title: n.Title}
		s.keys["entry"][number] = link
		link.Text = words.UpperFirst(link.Text)
		s.keys["Entry"][number] = link
	}
	for id, h := range s.Hosts {
		s.keys[id] = map[string]Number{"": {Text: s.machines[id], To: machinePath(id)}}
		for key, v := range map[string]float64{"cores": float64(h.Cores), "line_rate_bps": h.LineRateBps} {
			if v > 0 {
				s.keys[id][key] = Number{Text: amount(key, v), Value: &v}
			}
		}
	}
	return s.boards()
}

// thresholds are those of the method in force.
func thresholds() map[string]Number {
	all := map[string]Number{}
	for key, v := range map[string]float64{"alpha": stats.Alpha, "control_alpha": verdict.ControlAlpha,
		"bold": confseq.Bold, "max_visits": confseq.MaxNeeded,
		"least_visits": float64(stats.Fewest(stats.Level(1, 1))), "most_lost": verdict.MostLost,
		"visit_gap_s": results.VisitGap.Seconds(), "visit_span_s": results.VisitSpan.Seconds(),
		"cpu_saturated": gate.CPUSaturated, "wire_saturated": gate.WireSaturated} {
		all[key] = Number{Text: words.Percent(v), Value: &v}
		if v >= 1 {
			all[key] = count(int(v))
		}
	}
	return all
}

// countClaims counts all claims, and those that two cores can test without root and without another machine.
func (s *Site) countClaims() map[string]Number {
	all, here := 0, 0
	for _, x := range s.Experiments {
		all += len(x.Claims)
		here += strict.Count(x.Claims, func(c experiment.Claim) bool {
			d := x.Needs(c)
			return d.Cores <= 2 && !d.Root && x.Topology.Kind != "fleet"
		})
	}
	return map[string]Number{"all": count(all), "here": count(here)}
}

func count(n int) Number { return Number{Text: words.Thousands(n), Value: new(float64(n))} }

// boards judges the tables of public boards. The file data/boards/ID.toml describes a board, and
// its tables lie beside it.
func (s *Site) boards() error {
	paths, err := filepath.Glob(s.Root.Path("data", "boards", "*.toml"))
	for _, path := range paths {
		var board struct {
			Date   string `toml:"date"` // of the figures
			Tables []struct {
				File  string `toml:"file"`  // without .csv
				Added string `toml:"added"` // why its latencies are not those of the requests alone
				Means bool   `toml:"means"` // each figure is a mean of its own over several runs
			} `toml:"tables"`
		}
		text, err := os.ReadFile(path)
		if err = cmp.Or(err, toml.Unmarshal(text, &board)); err != nil {
			return fmt.Errorf("%s: %w", s.Root.Rel(path), err)
		}
		for _, t := range board.Tables {
			text, err := os.ReadFile(s.Root.Path("data", "boards", t.File+".csv"))
			of, other := law.Judge(t.File, text, law.Options{Averaged: t.Means, Added: t.Added})
			if err = cmp.Or(err, other); err == nil && of.Of[law.Unread] > 0 {
				err = errors.New(of.Findings[0].Says)
			}
			if err != nil {
				return fmt.Errorf("data/boards/%s.csv: %w", t.File, err)
			}
			little, share := of.Laws[law.InFlight], "none"
			held := little.Held + little.Broken
			if little.Broken > 0 {
				share = words.Share(float64(little.Broken) / float64(held))
			}
			s.keys[t.File] = map[string]Number{"held": count(held), "broken": count(little.Broken), "share": {Text: share},
				"date": {Text: board.Date}}
		}
	}
	return err
}
