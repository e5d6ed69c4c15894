package site

// This file reads references and finds them in pages. A page says which number it wants, and the lab writes it:
//
//	{{< n "12-write-buffer ratio server_cpu_per_request_s write_buffer=8192/4096 route=/read" >}}
//
// A reference is a subject, a form, and what the form takes: names, then levels. A subject is an experiment, which
// means all evidence of the machine that pages show; a text, as 12; or a table of one, as 12/ramp. The forms are in
// number_forms.go. A level is NAME=VALUE, or NAME=A/B to compare A with B; '…' encloses a value with a space or a
// slash. Other subjects have keys alone, as "lab alpha"; number_keys.go lists them.

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/law/audit"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/verdict"
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

// call finds the shortcodes that place a reference; a word of the journal's own is one, too.
var call = regexp.MustCompile(`\{\{<\s*(n|table|found|servers|term)\s+(?:of=)?"([^"]*)"`)

// numbers resolves the references of all pages into numbers.json. The error has a line for each that cannot be, with
// its place.
func (s *Site) numbers() error {
	if err := s.collectKeys(); err != nil {
		return err
	}
	found, faults := map[string]Number{}, []error(nil)
	for _, p := range s.pages {
		for _, m := range call.FindAllSubmatchIndex(p.text, -1) {
			text := string(p.text[m[4]:m[5]])
			if string(p.text[m[2]:m[3]]) == "term" {
				text = "term " + text
			}
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
	*Site
	reference
	kind string                 // of the subject
	x    *experiment.Experiment // of a table the one that repeats it; nil for a text
	e    *evidence              // nil where nobody measured
	text *audit.File            // nil but for a text
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
				instead(r.form, slices.Sorted(maps.Keys(of))))
		}
		return n, err
	}
	q, subjects := query{Site: s, reference: r}, slices.Collect(maps.Keys(s.keys))
	is := func(name, kind string) bool {
		if subjects = append(subjects, name); name == r.subject {
			q.kind = kind
		}
		return name == r.subject
	}
	for _, a := range s.Audits {
		if is(a.Entry, aText) {
			q.text = a
		}
	}
	for _, x := range s.Experiments {
		if is(x.Name, anExperiment) {
			q.x, q.e = x, s.shown[x.Name]
		}
		for _, e := range s.printed[x.Name] {
			if is(strings.Replace(e.published, "-", "/", 1), aTable) {
				q.x, q.e = x, e
			}
		}
	}
	f, known := forms[r.form]
	switch n := len(r.names); {
	case q.kind == "":
		slices.Sort(subjects)
		return Number{}, fmt.Errorf("there is no experiment, text or table %q\n  %s", r.subject, instead(r.subject, subjects))
	case !known || !strings.Contains(f.of, q.kind):
		fits := strict.Filter(slices.Sorted(maps.Keys(forms)), func(name string) bool {
			return strings.Contains(forms[name].of, q.kind)
		})
		return Number{}, fmt.Errorf("no %s has the form %q\n  %s", q.kind, r.form, instead(r.form, fits))
	case n < f.least || n > f.most:
		return Number{}, fmt.Errorf("%s takes %s", r.form, f.takes)
	}
	return f.give(q)
}
