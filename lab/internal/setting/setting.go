// Package setting names everything that can be set in a trial, and so can be a factor of an experiment. A factor is a
// setting with several levels; every other setting is fixed for the run.
//
// Levels are scalars: no table could name a condition by a richer level, such as a file.
package setting

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Names of settings that the lab itself acts on; settings.toml has all, and says what they mean.
const (
	Route         = "route"
	Connections   = "connections"
	Clients       = "clients"
	Pipelining    = "pipelining"
	ClientWorkers = "client_workers"
	Generator     = "generator"
	Rate          = "rate"
	Overload      = "overload"
	Workers       = "workers"
	Prefork       = "prefork"
	Index         = "index"
	Stack         = "stack"
	Server        = "server"
	ServerCPUs    = "server_cpus"
	IRQ           = "irq"
	RPS           = "rps"
	RFS           = "rfs"
	Variant       = "variant"
	EventRate     = "event_rate"
	SinkLatencyMs = "sink_latency_ms"
	Likes         = "likes"
	Writers       = "writers"
)

// HTTPLoadVersion is the version of the lab's own load generator. Raise it when the same load costs a server a
// different amount: earlier measurements then no longer count together with new ones. In version 1 the server woke the
// generator, which was part of a request's cost; up to 2 it read the server's clocks within a slot.
const HTTPLoadVersion = "3"

// Levels that the lab itself acts on.
const (
	HTTPLoad   = gate.HTTPLoad
	Autocannon = gate.Autocannon
	Sink       = gate.Sink
	Readers    = gate.Readers

	// Whose answers the lab knows; the first is also a stack, and the server where none is named.
	Fiber = "fiber"
	Null  = "null"
)

// A Row is what a setting can be set to; settings.toml says what its fields mean.
type Row struct {
	Name, Doc, Example  string
	Kind                string // empty: its levels are whole numbers
	Least               int64
	Words               []string
	Pattern             *regexp.Regexp
	Phrase, Title, Unit string
	Of, On              []string
	Command             bool
	Knob                *Knob
}

// A Knob is a setting that holds for the whole machine, or for a network namespace: one of the kernel, or a service
// to stop. Nothing can change it for a single slot, so its levels separate the groups of a block.
type Knob struct {
	Setting string `toml:"-"` // its name in a design
	Script  string // lab/scripts/tune-SCRIPT.sh turns it, and a row of package tune
	Level   any    `toml:"at"`
	Service bool   // stopped, and not written
}

// At is the level at which a trial turns the knob; at others the machine stays as it is.
func (k Knob) At() Level { return Level{k.Level} }

// Knobs lists every knob in the order of turning. Services come first in the table, since irqbalance would move
// interrupts that are pinned before it is stopped.
func Knobs() (all []Knob) {
	for _, r := range table {
		if r.Knob != nil {
			k := *r.Knob
			k.Setting = r.Name
			all = append(all, k)
		}
	}
	return all
}

//go:embed settings.toml
var settings []byte

// table has every setting, in the order in which tables show them.
var table = strict.Embedded[struct{ Settings []Row }](settings).Settings

// Find gives the row of a setting; false if there is none of that name.
func Find(name string) (Row, bool) {
	return strict.Find(table, func(r Row) bool { return r.Name == name })
}

// Names returns every setting in the order in which tables show them.
func Names() []string { return strict.Map(table, func(r Row) string { return r.Name }) }

// Docs describes every setting, in the order of Names.
func Docs() []strict.Word {
	return strict.Map(table, func(r Row) strict.Word {
		return strict.Word{Name: r.Name, Form: r.form(), Meaning: strings.ToUpper(r.Doc[:1]) + r.Doc[1:] + "."}
	})
}

// Check refuses an unknown setting, or a level that the setting does not allow.
func Check(name string, l Level) error {
	r, known := Find(name)
	switch {
	case !known:
		return fmt.Errorf("unknown setting \"%s\"; %s", strict.Visible(name, 60), strict.Instead(name, Names()))
	case r.takes(l):
		return nil
	}
	return fmt.Errorf("setting %q (%s) cannot be %s; give %s", name, r.Doc, strict.Visible(l.String(), 60), r.form())
}

func (r Row) takes(l Level) bool {
	const longest = 100 // characters
	switch v := l.v.(type) {
	case int64:
		return r.Kind == "" && v >= r.Least
	case string:
		listed := slices.Contains(r.Words, v) || r.Pattern != nil && r.Pattern.MatchString(v)
		return r.Kind == "text" && len(v) <= longest && listed
	}
	return r.Kind == "boolean" && !l.IsZero()
}

// form says what levels the setting takes.
func (r Row) form() string {
	switch {
	case r.Kind == "":
		return fmt.Sprintf("a whole number, %d or more", r.Least)
	case r.Kind == "boolean":
		return "true or false"
	case r.Words != nil:
		return `"` + strings.Join(r.Words, `", "`) + `"`
	}
	return fmt.Sprintf("a text such as %q", r.Example)
}

// A Level is the value of one setting: a whole number, a string or a bool. The zero Level is none.
type Level struct{ v any }

// Int, String and Bool make levels.
func Int(n int64) Level     { return Level{n} }
func String(s string) Level { return Level{s} }
func Bool(b bool) Level     { return Level{b} }

// ParseLevel converts a decoded TOML or JSON value, and refuses what is not a scalar.
func ParseLevel(v any) (Level, error) {
	switch v := v.(type) {
	case int64, string, bool:
		return Level{v}, nil
	case float64:
		if v == float64(int64(v)) {
			return Level{int64(v)}, nil
		}
	}
	return Level{}, fmt.Errorf("%s is not a level: use a whole number, a string or true/false",
		strict.Visible(fmt.Sprint(v), 60))
}

// ParseLevels converts the levels of several settings, and refuses what a setting does not take.
func ParseLevels(of map[string]any) (Levels, error) {
	levels := Levels{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		l, err := ParseLevel(of[name])
		if err == nil {
			err = Check(name, l)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		levels[name] = l
	}
	return levels, nil
}

// Int returns the level as a number; ok is false if it is not one.
func (l Level) Int() (n int64, ok bool) { n, ok = l.v.(int64); return }

// Bool returns the level as a bool; ok is false if it is not one.
func (l Level) Bool() (b, ok bool) { b, ok = l.v.(bool); return }

// IsText tells whether the level is a word, rather than a number or a bool.
func (l Level) IsText() bool { _, ok := l.v.(string); return ok }

// IsZero tells whether the level was never set.
func (l Level) IsZero() bool { return l.v == nil }

// String gives the level as written in a condition's name.
func (l Level) String() string {
	if l.IsZero() {
		return "(unset)"
	}
	return fmt.Sprint(l.v)
}

// Compare orders levels: one that is not set first, numbers by size, false before true, strings alphabetically.
func (l Level) Compare(m Level) int {
	a, aok := l.v.(int64)
	b, bok := m.v.(int64)
	switch {
	case l.IsZero() && !m.IsZero():
		return -1
	case m.IsZero() && !l.IsZero():
		return 1
	case aok && bok:
		return cmp.Compare(a, b)
	}
	return strings.Compare(l.String(), m.String())
}

// MarshalJSON writes the bare scalar.
func (l Level) MarshalJSON() ([]byte, error) { return json.Marshal(l.v) }

// UnmarshalJSON reads a bare scalar.
func (l *Level) UnmarshalJSON(b []byte) error {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	level, err := ParseLevel(v)
	*l = level
	return err
}

// Levels are the levels of several settings, by name.
type Levels map[string]Level

// Key names the combination, settings in the order of Names: the same levels give the same key, and it is readable
// ("workers=4 connections=100").
func (ls Levels) Key() string {
	var parts []string
	for _, r := range table {
		if l, ok := ls[r.Name]; ok {
			parts = append(parts, r.Name+"="+l.String())
		}
	}
	return strings.Join(parts, " ")
}

// In tells whether these levels are among others.
func (ls Levels) In(others Levels) bool {
	for name, l := range ls {
		if others[name] != l {
			return false
		}
	}
	return true
}

// With returns these levels, overridden by others.
func (ls Levels) With(over Levels) Levels {
	sum := Levels{}
	maps.Copy(sum, ls)
	maps.Copy(sum, over)
	return sum
}

// Without returns the levels without one setting: what stays the same when that setting varies.
func (ls Levels) Without(name string) Levels {
	rest := maps.Clone(ls)
	delete(rest, name)
	return rest
}

// Whole is the whole number that a setting is at, or another where it has none.
func (ls Levels) Whole(name string, otherwise int) int {
	if n, ok := ls[name].Int(); ok {
		return int(n)
	}
	return otherwise
}

// Compare orders levels setting by setting, in the order of the names.
func (ls Levels) Compare(other Levels, names []string) int {
	for _, name := range names {
		if c := ls[name].Compare(other[name]); c != 0 {
			return c
		}
	}
	return 0
}

// Phrase is a setting's name in a sentence.
func Phrase(name string) string {
	r, _ := Find(name)
	if r.Phrase != "" {
		return r.Phrase
	}
	if r.Unit != "" {
		name = name[:strings.LastIndex(name, "_")]
	}
	return strings.ReplaceAll(name, "_", " ")
}

// Title is what pages call a setting: "Workers", "Client workers", "RPS".
func Title(name string) string {
	if r, _ := Find(name); r.Title != "" {
		return r.Title
	}
	return words.UpperFirst(strings.ReplaceAll(name, "_", " "))
}

// LevelPhrase is a level in a sentence: numbers have their thousands separated, and a switch is on or off.
func LevelPhrase(l Level) string { return print(l, "on", "off") }

// LevelCell is a level as a table prints it: as LevelPhrase, but truth values are yes or no.
func LevelCell(l Level) string { return print(l, "yes", "no") }

func print(l Level, yes, no string) string {
	switch v := l.v.(type) {
	case int64:
		return words.Grouped(float64(v), 0)
	case bool:
		return map[bool]string{true: yes, false: no}[v]
	}
	return l.String()
}

// LimitTo limits a sentence to some levels: "where RFS is off and workers is 2".
func LimitTo(levels Levels) string {
	if len(levels) == 0 {
		return ""
	}
	return "where " + words.List(strict.Map(slices.Sorted(maps.Keys(levels)), func(name string) string {
		return Phrase(name) + " is " + LevelPhrase(levels[name])
	}))
}

// JoinLevel is a setting at a level, after "with": 20 connections, sink latency 5 ms, RPS on, variant async.
func JoinLevel(name string, l Level) string {
	r, _ := Find(name)
	_, number := l.Int()
	switch {
	case number && r.Unit != "":
		return Phrase(name) + " " + LevelPhrase(l) + " " + r.Unit
	case number && strings.HasSuffix(name, "s"):
		return LevelPhrase(l) + " " + Phrase(name)
	}
	return Phrase(name) + " " + LevelPhrase(l)
}

// JoinOther is the other level of the same setting.
func JoinOther(name string, l Level) string {
	if _, switched := l.Bool(); switched {
		return Phrase(name) + " " + LevelPhrase(l)
	}
	return LevelPhrase(l)
}
