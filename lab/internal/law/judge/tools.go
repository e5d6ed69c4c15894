package judge

import (
	"cmp"
	_ "embed" // tools.toml
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A tool is a load generator whose output is read as it prints it; tools.toml says what its fields mean.
type tool struct {
	Name, Mark, Begins, Joins string
	Alone, Binary             bool
	Units                     map[string]string
	Row                       law.Row
	Lines                     []string
	mark, joins               *regexp.Regexp
	lines                     []*regexp.Regexp
}

// abbreviations are what patterns have for what is long.
var abbreviations = strings.NewReplacer("#", `[<~]?\d[\d.,:]*(?:e[+-]?\d+)?(?: ?[a-zA-Zµμ/]+)?(?:\d[\dhmsµ.]*)?`, "  ", `\s+`,
	"¦", `\s*[│|]\s*`)

//go:embed tools.toml
var toolsText []byte

// A file is tools.toml.
type file struct {
	Tools    []*tool
	Settings []string
	Heads    []*head
	settings []*regexp.Regexp
	begins   *regexp.Regexp
}

const never = "a^" // matches nothing

// tools has its patterns compiled. That takes milliseconds, which only who judges pays.
var tools = sync.OnceValue(func() file {
	of := strict.Embedded[file](toolsText)
	pattern := func(text string) *regexp.Regexp { return regexp.MustCompile(abbreviations.Replace(text)) }
	var begins []string
	for i := len(of.Tools) - 1; i >= 0; i-- {
		t := of.Tools[i]
		if t.Lines == nil {
			t.Lines = of.Tools[i+1].Lines
		}
		if t.Alone {
			t.Row.Set(law.Depth, law.Exactly(1))
		}
		t.mark, t.joins, t.lines = regexp.MustCompile("(?m)"+t.Mark), regexp.MustCompile(cmp.Or(t.Joins, never)), strict.Map(t.Lines, pattern)
		begins = append(begins, cmp.Or(t.Begins, never))
	}
	of.begins, of.settings = regexp.MustCompile(strings.Join(begins, "|")), strict.Map(of.Settings, pattern)
	for _, h := range of.Heads {
		h.called = regexp.MustCompile("^(?:" + h.Called + ")$")
	}
	return of
})

// another is what --made-by has for a tool that is not known, and adds nothing to what it measures.
const another = "another"

// madeBy notes which tool made the rows; empty: nobody knows.
func (j *judge) madeBy(name string) error {
	known := []string{another}
	for _, t := range append(slices.Clip(tools().Tools), &tool{Name: another}) {
		names := strings.Split(strings.ToLower(t.Name), " or ")
		if known = append(known, names...); slices.Contains(names, strings.ToLower(name)) {
			j.maker = t
			return nil
		}
	}
	if name == "" {
		return nil
	}
	return fmt.Errorf("--made-by %s: %s", name, strict.Instead(name, known[1:]))
}

// surroundings are what the text says of the rows below it.
type surroundings struct {
	row   law.Row
	line  int    // that has its figures
	level int    // of the heading above that line
	title string // what stands right above
	added string // why latencies may not be those of the requests alone
}

var heading = later(`^(#+) `)

// line takes a line that is in no table: a tool's, or what is said of the rows below it.
func (j *judge) line(n int, text string) {
	if strings.HasPrefix(text, fence) || tools().begins.MatchString(text) {
		j.output()
	}
	if j.pending == nil {
		j.from = n
	}
	j.pending = append(j.pending, text)
	if m := heading().FindStringSubmatch(text); m != nil {
		if j.level = len(m[1]); j.level <= j.around.level {
			j.flush()
			j.around.row = law.Row{}
		}
	}
	if title := strings.Trim(text, " #*_:"); title != "" {
		j.around.title = title
	}
	j.mentions(text)
	for _, pattern := range tools().settings {
		if m := pattern.FindStringSubmatch(text); m != nil {
			said := law.Row{}
			j.groups(&said, pattern.SubexpNames(), m, nil)
			said.Default(&j.around.row)
			j.around.row, j.around.line, j.around.level = said, n, j.level
		}
	}
}

// mentions notes a tool that adds latencies, where a text names it.
func (j *judge) mentions(text string) {
	for _, t := range tools().Tools {
		if t.Row.Added != "" && strings.Contains(text, t.Name) {
			j.around.added = t.Row.Added
		}
	}
}

// output judges the runs in the lines of a tool. A figure that comes again begins another one.
func (j *judge) output() {
	lines, text := j.pending, strings.Join(j.pending, "\n")
	j.pending = nil
	t, ok := strict.Find(tools().Tools, func(t *tool) bool { return t.mark.MatchString(text) })
	if !ok {
		return
	}
	defer func(was *tool) { j.maker, j.printed = was, false }(j.maker)
	j.maker, j.printed, j.comma, j.unsure, j.sum, j.summed = t, true, false, "", law.Quantity{}, 0
	at := j.from
	finish := func() {
		if j.row.Rated() || j.row.Timed() {
			j.end(at, t.Name)
		}
		j.begin()
	}
	j.begin()
	for i, line := range lines {
		if line = strings.TrimRight(line, " "); t.joins.MatchString(line) && i+1 < len(lines) {
			lines[i+1] = line + " " + lines[i+1]
			continue
		}
		for _, pattern := range t.lines {
			m := pattern.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			for k, name := range pattern.SubexpNames() {
				f, ok := law.FigureOf(name)
				if ok && m[k] != "" && !f.Adds() && f != law.Depth && j.row.Has(f) {
					finish()
					at = j.from + i
				}
			}
			j.groups(&j.row, pattern.SubexpNames(), m, t.Units)
		}
	}
	finish()
}

// groups notes what the groups of a pattern have, by the names of figures, perhaps with 2 or 3 behind where several add
// up. q is a quantile in percent, and at its value; p97_5 is a quantile; clients are connections, of a thread each.
func (j *judge) groups(row *law.Row, names, texts []string, units map[string]string) {
	q := ""
	for i, name := range names {
		f, ok := law.FigureOf(strings.TrimRight(name, "23"))
		if name == "at" {
			f, ok = law.FigureOf("p" + q)
		}
		switch {
		case name == "" || texts[i] == "":
		case name == "q":
			q = texts[i]
		case name == "name":
			j.name = texts[i]
		case name == "clients":
			n, _ := strconv.Atoi(texts[i])
			row.Add(law.Connections, law.Exactly(float64(n)))
		case ok:
			j.cell(row, &column{head: name, figure: f, unit: units[name]}, texts[i])
		}
	}
}
