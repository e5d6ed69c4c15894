package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Column holds one metric of all trials, in the trials' order; nil where a
// trial does not have the metric. In the file's text it is as short as it can be:
// one number, or one for each turn.
type Column []*float64

// MarshalJSON writes a column of one entry as a number.
func (c Column) MarshalJSON() ([]byte, error) {
	if len(c) == 1 {
		return json.Marshal(c[0])
	}
	return json.Marshal([]*float64(c))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Column) UnmarshalJSON(text []byte) error {
	if text[0] == '[' {
		return json.Unmarshal(text, (*[]*float64)(c))
	}
	*c = Column{nil}
	return json.Unmarshal(text, &(*c)[0])
}

// short is the column with one entry for all trials or for each turn, where those
// are alike. turns has the turn of each trial.
func (c Column) short(turns []int) Column {
	alike := func(a, b *float64) bool { return a != nil && b != nil && *a == *b }
	if !slices.ContainsFunc(c, func(v *float64) bool { return !alike(v, c[0]) }) {
		return c[:1]
	}
	var out Column
	for i, v := range c {
		if turns[i] == len(out) {
			out = append(out, v)
		} else if !alike(v, out[turns[i]]) {
			return c
		}
	}
	return out
}

// long is the column with an entry for each trial.
func (c Column) long(turns []int) (Column, bool) {
	switch n := len(turns); {
	case n == 0 || len(c) == n && n > 1:
		return c, len(c) == n
	case len(c) == 1:
		return slices.Repeat(c, n), true
	case len(c) == turns[n-1]+1:
		return strict.Map(turns, func(turn int) *float64 { return c[turn] }), true
	}
	return c, false
}

// turns gives the turn of each trial, from 0: trials of one block follow one another
// where their conditions were up together.
func (f *File) turns() []int {
	group := map[string]int{}
	for g, conditions := range f.Groups() {
		for _, c := range conditions {
			group[f.Conditions[c].ID] = g
		}
	}
	turn, out := -1, make([]int, len(f.Trials))
	for i, t := range f.Trials {
		if i == 0 || t.Block != f.Trials[i-1].Block || group[t.Condition] != group[f.Trials[i-1].Condition] {
			turn++
		}
		out[i] = turn
	}
	return out
}

// Longest is the size in bytes up to which a run adds blocks to its file.
// LeastBlocks are kept in any case, so the file is longer where each trial
// records dozens of cores.
const (
	Longest     = 120_000
	LeastBlocks = 12
	mostBlocks  = 1000
)

// Full tells whether the run has to end for its file's size: it has
// LeastBlocks, and another block would make the file longer than Longest. The
// record counts the blocks of further runs too.
func (f *File) Full() bool {
	n := f.Provenance.Blocks
	if n < LeastBlocks {
		return false
	}
	text, err := Encode(f)
	return err != nil || n >= mostBlocks || len(text)+len(text)/n > Longest
}

// A columned is a map of figures that the text has in columns: its name in the
// text, and the map in each trial.
type columned struct {
	text, name string
	all        *map[string]Column
	of         func(*Trial) *map[string]float64
}

func (f *File) columned() []columned {
	return []columned{
		{"figures", "metrics", &f.Figures, func(t *Trial) *map[string]float64 { return &t.Metrics }},
		{"resolutions", "resolution", &f.Resolutions, func(t *Trial) *map[string]float64 { return &t.Resolution }},
	}
}

// spread gives a file that was read what its text leaves out: figures move from
// the columns to the trials, and what follows from them is added.
func (f *File) spread() error {
	f.fill()
	for i := range f.Trials {
		if t := &f.Trials[i]; t.Block == 0 && i == 0 {
			return errors.New("/trials/0/block: missing")
		} else if t.Block == 0 {
			t.Block = f.Trials[i-1].Block
		}
	}
	turns := f.turns()
	for _, c := range f.columned() {
		for i := range f.Trials {
			if *c.of(&f.Trials[i]) != nil {
				return fmt.Errorf("/trials/%d/%s: that of a measured run stands in columns, in /%s", i, c.name, c.text)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(*c.all)) {
			column, fits := (*c.all)[name].long(turns)
			if !fits {
				return fmt.Errorf("/%s/%s: %d entries for %d trials", c.text, name, len(column), len(f.Trials))
			}
			for i, v := range column {
				if v == nil {
					continue
				}
				of := c.of(&f.Trials[i])
				if *of == nil {
					*of = map[string]float64{}
				}
				(*of)[name] = *v
			}
		}
		*c.all = nil
	}
	for i := range f.Trials {
		t := &f.Trials[i]
		if t.Metrics == nil {
			t.Metrics = map[string]float64{}
		}
		if p := f.Provenance; t.AtS != nil {
			t.StartedAt, t.AtS = p.StartedAt.Add(inMicros(*t.AtS)), nil
		} else if len(t.Slots) > 0 {
			t.StartedAt = t.slotsBegan(p)
		}
		for name := range f.following(t) {
			if _, there := t.Metrics[name]; there {
				return fmt.Errorf("/figures/%s/%d: it follows from other figures of the trial; leave it out", name, i)
			}
		}
		t.Seq = i + 1
		f.Conclude(t)
		if _, measured := t.Metrics["duration_s"]; measured && i > 0 && turns[i] == turns[i-1] && t.Cores == nil {
			t.Cores = f.Trials[i-1].Cores
		}
		for k := range t.Profiles {
			t.Profiles[k].Unit = t.Profiles[k].Kind.Doc().Unit
		}
	}
	return nil
}

// slotsBegan is when the first slot of a trial began.
func (t *Trial) slotsBegan(p *Provenance) time.Time {
	return p.StartedAt.Add(inMicros(p.ClockS) + inMicros(t.Slots[0].AtS))
}

// inMicros is a time in seconds, in whole microseconds.
func inMicros(seconds float64) time.Duration {
	return time.Duration(micros(seconds)) * time.Microsecond
}

// fill gives the control what it repeats, and each program that was built here
// what it shares with the lab's own.
func (f *File) fill() {
	for i := range f.Conditions {
		if c := &f.Conditions[i]; c.ControlOf != "" && c.Levels == nil {
			if of := f.condition(c.ControlOf); of != nil {
				c.Levels, c.Generator, c.Commands = of.Levels, of.Generator, of.Commands
			}
		}
	}
	lab := f.Provenance.Binaries[labProgram]
	for name, b := range f.Provenance.Binaries {
		if name != labProgram && b.MadeOf != "" && b.Sources == "" {
			b.Sources, b.Commit, b.Modified, b.Build = lab.Sources, lab.Commit, lab.Modified, lab.Build
			f.Provenance.Binaries[name] = b
		}
	}
}

// labProgram is the lab's own name among a run's programs.
const labProgram = "lab"

// condition finds a condition by its id; nil if there is none.
func (f *File) condition(id string) *Condition {
	if i := slices.IndexFunc(f.Conditions, func(c Condition) bool { return c.ID == id }); i >= 0 {
		return &f.Conditions[i]
	}
	return nil
}

// gathered is a copy of the file as its text has it: what spread adds is left out.
func (f File) gathered() File {
	p := *f.Provenance
	p.ClockS = 0
	f.Provenance = &p
	f.Trials = slices.Clone(f.Trials)
	for i := range f.Trials {
		if t := &f.Trials[i]; !t.StartedAt.IsZero() {
			at := seconds(micros(t.StartedAt.Sub(p.StartedAt).Seconds()))
			if t.Slots != nil && p.ClockS == 0 {
				p.ClockS = seconds(micros(at - t.Slots[0].AtS))
			}
			if t.Slots == nil || t.StartedAt.Sub(t.slotsBegan(&p)).Abs() > 2*time.Microsecond {
				t.AtS = &at
			}
		}
	}
	turns := f.turns()
	for i := len(f.Trials) - 1; i >= 0; i-- {
		t := &f.Trials[i]
		if i > 0 && turns[i] == turns[i-1] && slices.Equal(t.Cores, f.Trials[i-1].Cores) {
			t.Cores = nil // those of the trial before it, with which it was up
		}
		t.Profiles = slices.Clone(t.Profiles)
		for k := range t.Profiles {
			t.Profiles[k].Unit = ""
		}
	}
	p.Binaries = maps.Clone(p.Binaries)
	lab := p.Binaries[labProgram]
	for name, b := range p.Binaries {
		if name != labProgram && b.MadeOf != "" && b.Sources == lab.Sources && b.Commit == lab.Commit &&
			b.Modified == lab.Modified && maps.Equal(b.Build, lab.Build) {
			b.Sources, b.Commit, b.Modified, b.Build = "", "", false, nil
			p.Binaries[name] = b
		}
	}
	for _, c := range f.columned() {
		*c.all = map[string]Column{}
		for i := range f.Trials {
			of := c.of(&f.Trials[i])
			counted := maps.Clone(*of)
			if c.name == "metrics" {
				for name := range f.following(&f.Trials[i]) {
					delete(counted, name)
				}
			}
			for name, v := range counted {
				if (*c.all)[name] == nil {
					(*c.all)[name] = make(Column, len(f.Trials))
				}
				(*c.all)[name][i] = &v
			}
			*of = nil
		}
		for name, column := range *c.all {
			(*c.all)[name] = column.short(turns)
		}
	}
	for i := len(f.Trials) - 1; i > 0; i-- {
		if f.Trials[i].Block == f.Trials[i-1].Block {
			f.Trials[i].Block = 0
		}
	}
	f.Conditions = slices.Clone(f.Conditions)
	for i := range f.Conditions {
		c := &f.Conditions[i]
		if of := f.condition(c.ControlOf); of != nil && of.ControlOf == "" && c.Levels.Key() == of.Levels.Key() &&
			c.Generator == of.Generator && slices.Equal(c.Commands, of.Commands) {
			c.Levels, c.Generator, c.Commands = nil, "", nil
		}
	}
	return f
}

// Encode gives the bytes of a JSON file of this project: indented, lists of
// numbers on one line, a newline at the end. Of a results file it writes what was
// counted, a line a trial. Equal values give equal bytes.
func Encode(v any) ([]byte, error) {
	depth := math.MaxInt
	if f, ok := v.(*File); ok {
		v, depth = f.gathered(), 2
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return append(lay(nil, bytes.TrimSpace(b.Bytes()), 0, depth), '\n'), nil
}

// numbers is a list or object that is empty or holds only numbers and nulls.
var numbers = regexp.MustCompile(`^(\[[^"[{tf]*\]|\{("(\\.|[^"\\])*":[^"[{tf]*)*\})$`)

// row is the longest object of numbers, in bytes, that is written on one line:
// a core's states, or a ratio with its interval.
const row = 120

// lay adds a JSON value without blanks to a text, with two spaces a level. Lists of
// numbers and short objects of numbers stay on one line, and so does what lies
// deeper than depth, without blanks: a results file has a line a trial, and one blank
// a level.
func lay(out []byte, v jsontext.Value, level, depth int) []byte {
	kind := v.Kind()
	switch {
	case kind != '[' && kind != '{' || level == depth:
		return append(out, v...)
	case (kind == '[' || len(v) <= row) && numbers.Match(v):
		out, _ = jsontext.AppendFormat(out, v, jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true))
		return out
	}
	blanks := 2
	if depth < math.MaxInt {
		blanks = 1
	}
	line := func(level int) { out = append(append(out, '\n'), strings.Repeat(" ", level*blanks)...) }
	in := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true))
	next := func() jsontext.Value {
		v, err := in.ReadValue()
		if err != nil {
			panic(err) // package json wrote it
		}
		return v
	}
	_, _ = in.ReadToken()
	out = append(out, v[0])
	for n := 0; in.PeekKind() != jsontext.Kind(v[len(v)-1]); n++ {
		if n > 0 {
			out = append(out, ',')
		}
		line(level + 1)
		if kind == '{' {
			out = append(append(out, next()...), ": "...)
		}
		out = lay(out, next(), level+1, depth)
	}
	line(level)
	return append(out, v[len(v)-1])
}

func micros(seconds float64) int64 { return int64(math.Round(seconds * 1e6)) }

func seconds(micros int64) float64 { return float64(micros) / 1e6 }
