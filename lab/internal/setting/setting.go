// Package setting names everything that can be set in a trial, and so can be a
// factor of an experiment. A factor is a setting with several levels; every
// other setting is fixed for the run.
//
// Levels are scalars. No table could name a condition by a richer level, such
// as a file.
package setting

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Names of the settings; the table says what they mean. If a machine or a topology lacks one of the
// kernel or of a service, the run says so and its claims are not applicable.
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
	WriteBuffer   = "write_buffer"
	Stack         = "stack"
	Server        = "server"
	SpinNs        = "spin_ns"
	BlockRateNs   = "block_rate_ns"
	Replicate     = "replicate"

	// Of the kernel and of services.
	ServerCPUs = "server_cpus"
	IRQ        = "irq"
	IRQBalance = "irqbalance"
	Crond      = "crond"
	RPS        = "rps"
	RFS        = "rfs"

	// Of a producer of events with a batch processor, and the receiver of its batches.
	Variant       = "variant"
	EventRate     = "event_rate"
	Pacing        = "pacing"
	EventBytes    = "event_bytes"
	BatchEvents   = "batch_events"
	FlushMs       = "flush_interval_ms"
	QueueEvents   = "queue_events"
	Stagger       = "stagger"
	Attempts      = "attempts"
	SinkLatencyMs = "sink_latency_ms"
	SinkErrors    = "sink_errors_permille"

	// Of a server of event streams, whose readers are its connections.
	Likes   = "likes"
	Writers = "writers"
)

// HTTPLoadVersion is the version of the lab's own load generator. It is raised
// when the same load costs a server a different amount: earlier measurements
// then no longer count together with new ones. In version 1 the server woke the
// generator, which was part of a request's cost; up to 2 it read the server's clocks
// within a slot.
const HTTPLoadVersion = "3"

// Levels that other packages use.
const (
	HTTPLoad   = gate.HTTPLoad
	Autocannon = gate.Autocannon
	Fortio     = gate.Fortio
	Sink       = gate.Sink
	Readers    = gate.Readers
	Library    = "batch" // the variant in lab/batch

	// Whose answers the lab knows; the first is also a stack.
	Fiber = "fiber"
	Null  = "null"

	// DefaultServer is loaded where no server is named.
	DefaultServer = "fiber"
)

// A def is what a setting can be set to; settings.toml says what its fields mean.
type def struct {
	Name, Doc, Example  string
	Kind                string // empty: its levels are whole numbers
	Least               int64
	Words               []string
	Pattern             *regexp.Regexp
	Phrase, Title, Unit string
	Knob                *Knob
}

// A Knob is a setting that holds for the whole machine, or for a network namespace: one of the
// kernel, or a service to stop. It cannot be changed for a single slot, so its levels separate
// the groups of a block. The rows of settings.toml that have one are the lab's only list of them.
type Knob struct {
	Setting string   `toml:"-"` // its name in a design
	Script  string   // lab/scripts/tune-SCRIPT.sh turns it, and a row of package tune
	Level   any      `toml:"at"`
	Service bool     // stopped, and not written
	On      []string // the kinds of topology on which it has an effect
}

// At is the level at which a trial turns the knob; at others the machine stays as it is.
func (k Knob) At() Level { return Level{k.Level} }

// Knobs lists every knob in the order of turning: services first, since irqbalance would move
// interrupts that are pinned before it is stopped.
func Knobs() (all []Knob) {
	for _, service := range []bool{true, false} {
		for _, d := range table {
			if d.Knob != nil && d.Knob.Service == service {
				k := *d.Knob
				k.Setting = d.Name
				all = append(all, k)
			}
		}
	}
	return all
}

// EventSizes are the sizes of an event, in bytes, that the batch study's producer can send.
var EventSizes = []int64{64, 256, 1024, 4096}

//go:embed settings.toml
var settings []byte

// table has every setting, in the order in which tables show them.
var table = strict.Embedded[struct{ Settings []def }](settings).Settings

var names = strict.Map(table, func(d def) string { return d.Name })

// find gives a setting's row in the table.
func find(name string) (def, bool) {
	return strict.Find(table, func(d def) bool { return d.Name == name })
}

// Names returns every setting in the order in which tables show them.
func Names() []string { return slices.Clone(names) }

// longest is how many characters a level may have.
const longest = 100

// IsPath tells whether a route is a single path that a client can request.
func IsPath(l Level) bool {
	s, _ := l.v.(string)
	return strings.HasPrefix(s, "/") && Check(Route, l) == nil // a load of several begins with a share
}

// A Level is the value of one setting: a whole number, a string or a bool. The
// zero Level is invalid.
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
	case int:
		return Level{int64(v)}, nil
	case float64:
		if v == float64(int64(v)) {
			return Level{int64(v)}, nil
		}
	}
	return Level{}, fmt.Errorf("%s is not a level: use a whole number, a string or true/false", shown(fmt.Sprint(v)))
}

// Check refuses an unknown setting, or a level that the setting does not allow.
func Check(name string, l Level) error {
	d, known := find(name)
	s, isText := l.v.(string)
	switch {
	case !known:
		return fmt.Errorf("unknown setting \"%s\"; %s", shown(name), strict.Instead(name, Names()))
	case d.takes(l):
		return nil
	case isText && d.Words != nil:
		return fmt.Errorf("setting %q (%s) cannot be \"%s\"; %s", name, d.Doc, shown(s), strict.Instead(s, d.Words))
	}
	return fmt.Errorf("setting %q (%s) cannot be %s; give %s", name, d.Doc, shown(l.String()), d.form())
}

// takes tells whether the setting allows a level.
func (d def) takes(l Level) bool {
	switch v := l.v.(type) {
	case int64:
		return d.Kind == "" && v >= d.Least
	case string:
		listed := slices.Contains(d.Words, v) || d.Pattern != nil && d.Pattern.MatchString(v)
		return d.Kind == "text" && len(v) <= longest && listed
	}
	return d.Kind == "boolean" && !l.IsZero()
}

// shown is a value that somebody wrote, for a message.
func shown(v string) string { return strict.Visible(v, 60) }

// form says what levels the setting takes, if not one of some words.
func (d def) form() string {
	switch {
	case d.Kind == "":
		return fmt.Sprintf("a whole number, %d or more", d.Least)
	case d.Kind == "boolean":
		return "true or false"
	case d.Words != nil:
		return `"` + strings.Join(d.Words, `", "`) + `"`
	}
	return fmt.Sprintf("a text such as %q", d.Example)
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

// Less orders levels: numbers by size, false before true, strings
// alphabetically.
func (l Level) Less(m Level) bool {
	a, aok := l.v.(int64)
	b, bok := m.v.(int64)
	if aok && bok {
		return a < b
	}
	return l.String() < m.String()
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

// Key names the combination, settings in the order of Names: the same levels
// give the same key, and it is readable ("workers=4 connections=100").
func (ls Levels) Key() string {
	var parts []string
	for _, name := range names {
		if l, ok := ls[name]; ok {
			parts = append(parts, name+"="+l.String())
		}
	}
	return strings.Join(parts, " ")
}

// Without returns the levels without one setting: what stays the same when that
// setting varies.
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

// Compare orders levels setting by setting, in the order of the names. A missing level comes
// before all others.
func (ls Levels) Compare(other Levels, names []string) int {
	for _, name := range names {
		a, has := ls[name]
		b, also := other[name]
		switch {
		case !has && !also:
		case !has || also && a.Less(b):
			return -1
		case !also || b.Less(a):
			return 1
		}
	}
	return 0
}

// With returns these levels, overridden by others.
func (ls Levels) With(over Levels) Levels {
	sum := Levels{}
	maps.Copy(sum, ls)
	maps.Copy(sum, over)
	return sum
}

// Docs describes every setting, in the order of Names.
func Docs() []strict.Word {
	return strict.Map(table, func(d def) strict.Word {
		return strict.Word{Name: d.Name, Form: d.form(), Meaning: strings.ToUpper(d.Doc[:1]) + d.Doc[1:] + "."}
	})
}

// Numeric lists the settings whose levels are numbers.
func Numeric() []string {
	return strict.Map(strict.Filter(table, func(d def) bool { return d.Kind == "" }), func(d def) string { return d.Name })
}
