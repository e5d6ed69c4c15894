// Package setting names everything that can be set in a trial, and so can be a
// factor of an experiment. A factor is a setting with several levels; every
// other setting is fixed for the run.
//
// Levels are scalars. No table could name a condition by a richer level, such
// as a file.
package setting

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Names of the settings; the table says what they mean.
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
)

// Names of settings of the kernel and of services. Each name is one setting, so
// that a design cannot change two as one. If a machine or a topology lacks one,
// the run says so and its claims are not applicable.
const (
	ServerCPUs = "server_cpus"
	IRQ        = "irq"
	IRQBalance = "irqbalance"
	Crond      = "crond"
	RPS        = "rps"
	RFS        = "rfs"
)

// Names of the settings for a producer of events with a batch processor as the
// server, and the receiver of its batches as the client.
const (
	Variant       = "variant"
	EventRate     = "event_rate"
	Pacing        = "pacing"
	EventBytes    = "event_bytes"
	BatchEvents   = "batch_events"
	FlushMs       = "flush_interval_ms"
	QueueEvents   = "queue_events"
	WhenFull      = "when_full"
	Stagger       = "stagger"
	Attempts      = "attempts"
	SinkLatencyMs = "sink_latency_ms"
	SinkErrors    = "sink_errors_permille"
)

// Names of the settings for a server of event streams, whose readers are its connections.
const (
	Likes   = "likes"
	Writers = "writers"
)

// HTTPLoadVersion is the version of the lab's own load generator. It is raised
// when the same load costs a server a different amount: earlier measurements
// then no longer count together with new ones. In version 1 the server woke the
// generator, which was part of a request's cost.
const HTTPLoadVersion = "2"

// Levels that other packages use.
const (
	HTTPLoad   = "http_load"  // the lab's own generator
	Autocannon = "autocannon" // used in the published runs, and assumed where no generator is named
	Fortio     = "fortio"     // in texts and earlier runs only
	Sink       = "sink"       // counts events
	Readers    = "readers"    // of event streams; they give likes besides
	Library    = "batch"      // the variant in lab/batch

	// Whose answers the lab knows; the first is also a stack.
	Fiber = "fiber"
	Null  = "null"

	// DefaultServer is loaded where no server is named.
	DefaultServer = "fiber"
)

type kind int

const (
	number kind = iota
	text
	boolean
)

// A def is what a setting can be set to.
type def struct {
	name  string
	kind  kind
	least int64 // least value of a number
	doc   string
	words []string // all possible texts; nil if there is a pattern
	// Pattern is the form of a text of which there are many, and example is one.
	pattern *regexp.Regexp
	example string
}

// EventSizes are the sizes of an event, in bytes, that the batch study's producer can send.
var EventSizes = []int64{64, 256, 1024, 4096}

// Paths and lists of cores are put on command lines and into addresses. Other
// characters could change the meaning there, as in "@127.0.0.1:1/x". Published
// texts also have loads of several paths, with the share of each.
const path = `/([A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*/?)?`

var (
	onePath = regexp.MustCompile(`^` + path + `$`)
	paths   = regexp.MustCompile(`^(` + path + `|[0-9]{1,2} % /[a-z0-9 ]+( \+ [0-9]{1,2} % /[a-z0-9 ]+)+)$`)
	servers = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	cores   = regexp.MustCompile(`^[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*$`)
)

// table has every setting, in the order in which tables show them.
var table = []def{
	{name: Server, kind: text, doc: "which server", pattern: servers, example: DefaultServer},
	{name: Stack, kind: text, doc: "what serves the routes", words: []string{Fiber, "fasthttp", "net-http"}},
	{name: Route, kind: text, doc: "path requested", pattern: paths, example: "/read"},
	{name: Prefork, kind: boolean, doc: "whether the server forks workers"},
	{name: Workers, least: 1, doc: "prefork workers, the server's GOMAXPROCS"},
	{name: Index, kind: text, doc: "how the server picks a product", words: []string{"pool", "gofakeit"}},
	{name: WriteBuffer, least: 1, doc: "bytes of the server's write buffer"},
	{name: SpinNs, doc: "nanoseconds the server burns on each request"},
	{name: BlockRateNs, least: 1, doc: "one event of the block profile for each so many nanoseconds blocked"},
	{name: ServerCPUs, kind: text, doc: "cores the server may use", pattern: cores, example: "0-5"},
	{name: IRQ, kind: text, doc: "where the interface's interrupts fire", words: []string{"default", "pinned"}},
	{name: IRQBalance, kind: boolean, doc: "whether irqbalance runs"},
	{name: Crond, kind: boolean, doc: "whether crond runs"},
	{name: RPS, kind: boolean, doc: "receive packet steering"},
	{name: RFS, kind: boolean, doc: "receive flow steering"},
	{name: Variant, kind: text, doc: "which batch processor",
		words: []string{"async", Library, "pool-10", "pool-100", "swap"}},
	{name: EventRate, doc: "events a second offered; 0 looks for the limit"},
	{name: Pacing, kind: text, doc: "how events are offered", words: []string{"open", "ticker"}},
	{name: EventBytes, least: 1, doc: "bytes of one event"},
	{name: BatchEvents, least: 1, doc: "events of a full batch"},
	{name: FlushMs, least: 1, doc: "milliseconds after which a batch leaves"},
	{name: QueueEvents, doc: "events that the processor's channel holds"},
	{name: WhenFull, kind: text, doc: "what becomes of an event for which there is no room",
		words: []string{"block", "drop"}},
	{name: Stagger, kind: boolean, doc: "whether a pool's workers flush at different times"},
	{name: Attempts, least: 1, doc: "how often the library tries a batch"},
	{name: SinkLatencyMs, doc: "milliseconds that the receiver takes to answer"},
	{name: SinkErrors, doc: "of a thousand batches, how many the receiver refuses"},
	{name: Likes, doc: "likes a second that the writers give; 0: each waits for its answer"},
	{name: Writers, least: 1, doc: "connections that give likes"},
	{name: Generator, kind: text, doc: "which load generator",
		words: []string{HTTPLoad, Autocannon, Fortio, Sink, Readers, "vegeta", "wrk"}},
	{name: Clients, least: 1, doc: "hosts of a fleet that load the server, which share the connections and the rate"},
	{name: Connections, least: 1, doc: "open TCP connections"},
	{name: Pipelining, least: 1, doc: "requests in flight on each connection"},
	{name: ClientWorkers, doc: "load generator threads; 0 leaves it to the generator"},
	{name: Rate, doc: "requests a second asked for; 0 is a closed loop"},
	{name: Overload, kind: boolean, doc: "whether a rate that cannot be met is what the trial is about"},
	{name: Replicate, least: 1, doc: "a number that changes nothing"},
}

var defs, names = func() (map[string]def, []string) {
	defs, names := map[string]def{}, []string(nil)
	for _, d := range table {
		defs[d.name], names = d, append(names, d.name)
	}
	return defs, names
}()

// Names returns every setting in the order in which tables show them.
func Names() []string { return slices.Clone(names) }

// longest is how many characters a level may have.
const longest = 100

// IsPath tells whether a route is a single path that a client can request.
func IsPath(l Level) bool {
	s, ok := l.v.(string)
	return ok && len(s) <= longest && onePath.MatchString(s)
}

// A Level is the value of one setting: a whole number, a string or a bool. The
// zero Level is invalid.
type Level struct{ v any }

// Int, String and Bool make levels.
func Int(n int64) Level     { return Level{n} }
func String(s string) Level { return Level{s} }
func Bool(b bool) Level     { return Level{b} }

// Of converts a decoded TOML or JSON value, and refuses what is not a scalar.
func Of(v any) (Level, error) {
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
	d, known := defs[name]
	s, isText := l.v.(string)
	switch {
	case !known:
		return fmt.Errorf("unknown setting \"%s\"; %s", shown(name), strict.Instead(name, Names()))
	case d.takes(l):
		return nil
	case isText && d.words != nil:
		return fmt.Errorf("setting %q (%s) cannot be \"%s\"; %s", name, d.doc, shown(s), strict.Instead(s, d.words))
	}
	return fmt.Errorf("setting %q (%s) cannot be %s; give %s", name, d.doc, shown(l.String()), d.form())
}

// takes tells whether the setting allows a level.
func (d def) takes(l Level) bool {
	switch v := l.v.(type) {
	case int64:
		return d.kind == number && v >= d.least
	case string:
		listed := slices.Contains(d.words, v) || d.pattern != nil && d.pattern.MatchString(v)
		return d.kind == text && len(v) <= longest && listed
	}
	return d.kind == boolean && !l.IsZero()
}

// shown is a value that somebody wrote, for a message.
func shown(v string) string { return strict.Visible(v, 60) }

// form says what levels the setting takes, if not one of some words.
func (d def) form() string {
	switch {
	case d.kind == number:
		return fmt.Sprintf("a whole number, %d or more", d.least)
	case d.kind == boolean:
		return "true or false"
	case d.words != nil:
		return `"` + strings.Join(d.words, `", "`) + `"`
	}
	return fmt.Sprintf("a text such as %q", d.example)
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
	switch v := l.v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	}
	return "(unset)"
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
	got, err := Of(v)
	if err != nil {
		return err
	}
	*l = got
	return nil
}

// JSONSchema describes a level for the published schema.
func (Level) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
		{Type: "integer", Minimum: "0"},
		{Type: "string", Pattern: `^[A-Za-z0-9/][A-Za-z0-9 %+/_.,-]*$`, MaxLength: new(uint64(longest))},
		{Type: "boolean"},
	}}
}

// Levels are the levels of several settings, by name.
type Levels map[string]Level

// Key names the combination, settings in the order of Names: the same levels
// give the same key, and it is readable ("workers=4 connections=100").
func (ls Levels) Key() string {
	key := ""
	for _, name := range names {
		if l, ok := ls[name]; ok {
			if key != "" {
				key += " "
			}
			key += name + "=" + l.String()
		}
	}
	return key
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

// A Doc describes a setting to whoever writes a design.
type Doc struct {
	strict.Word
	Schema *jsonschema.Schema // of one level
}

// Docs describes every setting, in the order of Names.
func Docs() (docs []Doc) {
	for _, d := range table {
		s := &jsonschema.Schema{Type: "string", Description: sentence(d.doc)}
		switch {
		case d.kind == number:
			s.Type, s.Minimum = "integer", json.Number(strconv.FormatInt(d.least, 10))
		case d.kind == boolean:
			s.Type = "boolean"
		case d.words != nil:
			s.Enum = strict.Called(d.words, func(w string) any { return w })
		default:
			s.Pattern, s.MaxLength = d.pattern.String(), new(uint64(longest))
		}
		docs = append(docs, Doc{strict.Word{Name: d.name, Form: d.form(), Meaning: sentence(d.doc)}, s})
	}
	return docs
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// Numeric lists the settings whose levels are numbers.
func Numeric() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return defs[name].kind != number })
}
