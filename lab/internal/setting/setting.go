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
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// Names of the settings.
const (
	Route       = "route"       // path requested, e.g. "/read"
	Connections = "connections" // open TCP connections of all client workers together
	// hosts of a fleet that load the server, among which connections and rate are dealt out; absent: all
	Clients    = "clients"
	Pipelining = "pipelining" // requests in flight on each connection
	// load generator threads; 0: one for each core in http_load, one event loop in autocannon
	ClientWorkers = "client_workers"
	// load generator: "http_load" or "autocannon", "sink" for events, and others in texts and earlier runs
	Generator   = "generator"
	Rate        = "rate"          // requests per second asked for; 0 is a closed loop
	Overload    = "overload"      // whether the trial is meant to show that the rate cannot be met
	Workers     = "workers"       // the server's prefork workers, which is its GOMAXPROCS
	Prefork     = "prefork"       // whether the server forks workers at all
	Index       = "index"         // how the server picks a product: "pool" or "gofakeit"
	WriteBuffer = "write_buffer"  // bytes of the server's write buffer per connection
	Stack       = "stack"         // server software: "fiber", "fasthttp" or "net-http"
	Server      = "server"        // a server of lab/servers.toml or of the experiment's file
	SpinNs      = "spin_ns"       // nanoseconds that the server burns for each request, as an effect to be detected
	BlockRateNs = "block_rate_ns" // the block profile samples one event for each so many nanoseconds blocked
	Replicate   = "replicate"     // a number without effect: the same condition again
)

// Names of settings of the kernel and of services. Each name is one setting, so
// that a design cannot change two as one. If a machine or a topology lacks one,
// the run says so and its claims are not applicable.
const (
	ServerCPUs = "server_cpus" // cores that the server may use, as a list: "0-5"
	IRQ        = "irq"         // where the interface's interrupts are handled: "default" or "pinned"
	IRQBalance = "irqbalance"  // whether irqbalance runs, which moves interrupts
	Crond      = "crond"       // whether crond runs
	RPS        = "rps"         // receive packet steering: any core handles packets
	RFS        = "rfs"         // receive flow steering: the core that reads the flow handles its packets
)

// Names of the settings for a producer of events with a batch processor as the
// server, and the receiver of its batches as the client.
const (
	Variant   = "variant"    // which batch processor
	EventRate = "event_rate" // events per second offered; 0 searches for the highest rate that is delivered
	// "open": events are due at fixed times; "ticker": late events are never offered
	Pacing        = "pacing"
	EventBytes    = "event_bytes"          // bytes of one event
	BatchEvents   = "batch_events"         // events in a full batch
	FlushMs       = "flush_interval_ms"    // milliseconds after which an incomplete batch is sent
	QueueEvents   = "queue_events"         // capacity of the processor's channel, in events
	WhenFull      = "when_full"            // "block" or "drop", when the channel is full
	Stagger       = "stagger"              // whether a pool's workers flush at different times
	Attempts      = "attempts"             // how often the library's own processor tries to send a batch
	SinkLatencyMs = "sink_latency_ms"      // milliseconds that the receiver takes to answer
	SinkErrors    = "sink_errors_permille" // how many of a thousand batches the receiver refuses
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

type def struct {
	kind  kind
	least int64 // least value of a number
	doc   string
	words []string // all possible texts; nil if there is a pattern
}

// EventSizes are the sizes of an event, in bytes, that the batch study's producer can send.
var EventSizes = []int64{64, 256, 1024, 4096}

var defs = map[string]def{
	Route:         {text, 0, "path requested", nil},
	Connections:   {number, 1, "open TCP connections", nil},
	Clients:       {number, 1, "hosts of a fleet that load the server, which share the connections and the rate", nil},
	Pipelining:    {number, 1, "requests in flight on each connection", nil},
	ClientWorkers: {number, 0, "load generator threads; 0 leaves it to the generator", nil},
	Workers:       {number, 1, "prefork workers, the server's GOMAXPROCS", nil},
	Prefork:       {boolean, 0, "whether the server forks workers", nil},
	Index:         {text, 0, "how the server picks a product", []string{"pool", "gofakeit"}},
	WriteBuffer:   {number, 1, "bytes of the server's write buffer", nil},
	Generator:     {text, 0, "which load generator", []string{HTTPLoad, Autocannon, Fortio, Sink, "vegeta", "wrk"}},
	Rate:          {number, 0, "requests a second asked for; 0 is a closed loop", nil},
	Overload:      {boolean, 0, "whether a rate that cannot be met is what the trial is about", nil},
	Stack:         {text, 0, "what serves the routes", []string{Fiber, "fasthttp", "net-http"}},
	Server:        {text, 0, "which server", nil},
	SpinNs:        {number, 0, "nanoseconds the server burns on each request", nil},
	BlockRateNs:   {number, 1, "one event of the block profile for each so many nanoseconds blocked", nil},
	Replicate:     {number, 1, "a number that changes nothing", nil},
	ServerCPUs:    {text, 0, "cores the server may use", nil},
	IRQ:           {text, 0, "where the interface's interrupts fire", []string{"default", "pinned"}},
	IRQBalance:    {boolean, 0, "whether irqbalance runs", nil},
	Crond:         {boolean, 0, "whether crond runs", nil},
	RPS:           {boolean, 0, "receive packet steering", nil},
	RFS:           {boolean, 0, "receive flow steering", nil},
	Variant:       {text, 0, "which batch processor", []string{"async", Library, "pool-10", "pool-100", "swap"}},
	EventRate:     {number, 0, "events a second offered; 0 looks for the limit", nil},
	Pacing:        {text, 0, "how events are offered", []string{"open", "ticker"}},
	EventBytes:    {number, 1, "bytes of one event", nil},
	BatchEvents:   {number, 1, "events of a full batch", nil},
	FlushMs:       {number, 1, "milliseconds after which a batch leaves", nil},
	QueueEvents:   {number, 0, "events that the processor's channel holds", nil},
	WhenFull:      {text, 0, "what becomes of an event for which there is no room", []string{"block", "drop"}},
	Stagger:       {boolean, 0, "whether a pool's workers flush at different times", nil},
	Attempts:      {number, 1, "how often the library tries a batch", nil},
	SinkLatencyMs: {number, 0, "milliseconds that the receiver takes to answer", nil},
	SinkErrors:    {number, 0, "of a thousand batches, how many the receiver refuses", nil},
}

// Paths and lists of cores are put on command lines and into addresses. Other
// characters could change the meaning there, as in "@127.0.0.1:1/x". Published
// texts also have loads of several paths, with the share of each.
var (
	path     = `/([A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*/?)?`
	onePath  = regexp.MustCompile(`^` + path + `$`)
	patterns = map[string]*regexp.Regexp{
		Route:      regexp.MustCompile(`^(` + path + `|[0-9]{1,2} % /[a-z0-9 ]+( \+ [0-9]{1,2} % /[a-z0-9 ]+)+)$`),
		Server:     regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`),
		ServerCPUs: regexp.MustCompile(`^[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*$`),
	}
)

// examples has a level for each setting whose texts have a pattern.
var examples = map[string]string{Route: "/read", Server: DefaultServer, ServerCPUs: "0-5"}

// longest is how many characters a level may have.
const longest = 100

// IsPath tells whether a route is a single path that a client can request.
func IsPath(l Level) bool {
	s, ok := l.v.(string)
	return ok && len(s) <= longest && onePath.MatchString(s)
}

// Names returns every setting in the order in which tables show them.
func Names() []string {
	return []string{
		Server, Stack, Route, Prefork, Workers, Index, WriteBuffer, SpinNs, BlockRateNs, ServerCPUs, IRQ, IRQBalance, Crond,
		RPS, RFS,
		Variant, EventRate, Pacing, EventBytes, BatchEvents, FlushMs, QueueEvents, WhenFull, Stagger, Attempts, SinkLatencyMs,
		SinkErrors,
		Generator, Clients, Connections, Pipelining, ClientWorkers, Rate, Overload, Replicate,
	}
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
	d, ok := defs[name]
	if !ok {
		return fmt.Errorf("unknown setting \"%s\"; %s", shown(name), strict.Instead(name, Names()))
	}
	switch l.v.(type) {
	case int64:
		ok = d.kind == number && l.v.(int64) >= d.least
	case string:
		s := l.v.(string)
		ok = d.kind == text && len(s) <= longest
		if pattern := patterns[name]; pattern != nil {
			ok = ok && pattern.MatchString(s)
		} else {
			ok = ok && slices.Contains(d.words, s)
		}
	case bool:
		ok = d.kind == boolean
	default:
		ok = false
	}
	if s, is := l.v.(string); !ok && is && d.words != nil {
		return fmt.Errorf("setting %q (%s) cannot be \"%s\"; %s", name, d.doc, shown(s), strict.Instead(s, d.words))
	}
	if !ok {
		return fmt.Errorf("setting %q (%s) cannot be %s; give %s", name, d.doc, shown(l.String()), d.form(name))
	}
	return nil
}

// shown is a value that somebody wrote, for a message.
func shown(v string) string { return strict.Visible(v, 60) }

// form says what levels the setting takes, if not one of some words.
func (d def) form(name string) string {
	switch {
	case d.kind == number:
		return fmt.Sprintf("a whole number, %d or more", d.least)
	case d.kind == boolean:
		return "true or false"
	case d.words != nil:
		return `"` + strings.Join(d.words, `", "`) + `"`
	}
	return fmt.Sprintf("a text such as %q", examples[name])
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
		{Type: "string", Pattern: `^[A-Za-z0-9/][A-Za-z0-9 %+/_.,-]*$`, MaxLength: ptr(uint64(longest))},
		{Type: "boolean"},
	}}
}

func ptr[T any](v T) *T { return &v }

// Levels are the levels of several settings, by name.
type Levels map[string]Level

// Key names the combination, settings in the order of Names: the same levels
// give the same key, and it is readable ("workers=4 connections=100").
func (ls Levels) Key() string {
	key := ""
	for _, name := range Names() {
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
	rest := Levels{}
	for k, v := range ls {
		if k != name {
			rest[k] = v
		}
	}
	return rest
}

// With returns these levels, overridden by others.
func (ls Levels) With(over Levels) Levels {
	sum := Levels{}
	for k, v := range ls {
		sum[k] = v
	}
	for k, v := range over {
		sum[k] = v
	}
	return sum
}
