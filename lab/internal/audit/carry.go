package audit

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

func printedNothing(cell string) bool { return slices.Contains(absent, cell) }

// Text gives the text with the table added to what it had. A new text begins with a
// comment that names its source and date. Each figure stands once: in a published run,
// which the text then names as a table, or in the text.
func (s *Sheet) Text(had []byte) ([]byte, error) {
	in := s.in
	for what, said := range map[string]string{"source": in.Source, "place": in.Place} {
		if err := strict.CheckLine(said); err != nil || strings.TrimSpace(said) == "" {
			return nil, fmt.Errorf("--%s %q: say it in one line", what, said)
		}
	}
	before := &Text{}
	var b bytes.Buffer
	if had == nil {
		fmt.Fprintf(&b, "# %s, %s.\nentry = %q\n", in.Source, in.Date, in.Entry)
	} else {
		was, err := Parse(in.Entry, had)
		if err != nil {
			return nil, err
		}
		before = was
		fmt.Fprintf(&b, "%s\n\n# %s, %s.\n", bytes.TrimRight(had, "\n"), in.Source, in.Date)
	}
	if in.Experiment != nil {
		s.table(&b, before)
	} else if err := s.list(&b, before); err != nil {
		return nil, err
	}
	_, err := Parse(in.Entry, b.Bytes())
	return b.Bytes(), err
}

// table names the published run, unless the text does.
func (s *Sheet) table(b *bytes.Buffer, before *Text) {
	in := s.in
	taken := map[string]bool{}
	for _, f := range before.Figures {
		taken[f.ID] = true
	}
	for _, t := range before.Tables {
		taken[t.ID] = true
		if t.Experiment == in.Experiment.Name && t.Run == in.Run {
			return
		}
	}
	id := "t"
	for n := 2; taken[id]; n++ {
		id = fmt.Sprintf("t%d", n)
	}
	fmt.Fprintf(b, "\n[[tables]]\nid = %q\nplace = %s\nexperiment = %q\nrun = %q\n", id, quoted(in.Place), in.Experiment.Name, in.Run)
}

var noName = regexp.MustCompile(`[^a-z0-9]+`)

// list writes each figure.
func (s *Sheet) list(b *bytes.Buffer, before *Text) error {
	taken := map[string]string{}
	for _, f := range before.Figures {
		taken[f.ID] = f.Place
	}
	for _, t := range before.Tables {
		taken[t.ID] = t.Place
	}
	for _, r := range s.rows {
		tail := ""
		for _, name := range setting.Names() {
			if l, ok := r.levels[name]; ok {
				tail += "_" + strings.Trim(noName.ReplaceAllString(strings.ToLower(l.String()), "_"), "_")
			}
		}
		place := placed(s.in.Place, results.Condition{Levels: r.levels})
		for _, c := range s.columns {
			f, ok := r.figures[c.metric.Name]
			if !ok {
				continue
			}
			id := c.metric.Name + tail
			if where, again := taken[id]; again {
				return fmt.Errorf("line %d, column %d: %s: figure %q stands in data/texts/%s.toml already (%s); each figure stands once", r.line, r.at[c.metric.Name], c.head, id, s.in.Entry, where)
			}
			taken[id] = place
			fmt.Fprintf(b, "\n[[figures]]\nid = %q\nplace = %s\nprinted = %s\n", id, quoted(place+": "+strings.ToLower(c.metric.Label)), quoted(f.text))
			of, err := parse(f.text, manner{})
			if err != nil {
				return err
			}
			if of.Unit == "" && c.metric.Unit != metric.Count {
				fmt.Fprintf(b, "unit = %q\n", c.metric.Unit)
			}
			if counted[c.metric.Name] && !strings.ContainsAny(f.text, "~<") {
				b.WriteString("exact = true\n")
			}
		}
	}
	return nil
}

// quoted is a line of visible text as a string of TOML.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// WireRate reads a wire's rate as a text prints it, in bits a second.
func WireRate(printed string) (float64, error) {
	r, err := parse(printed, manner{exact: true})
	if err == nil && (r.Unit != metric.BitsPerSecond || r.Value <= 0) {
		err = fmt.Errorf("%q is no rate of a wire, such as \"50 Gbps\"", printed)
	}
	return r.Value, err
}
