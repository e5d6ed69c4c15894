// Package setting names what can be set in a trial, and so what can be a
// factor of an experiment. One list serves both: a factor is a setting that
// takes several levels, and whatever is not a factor is fixed for the run.
//
// Levels are scalars. A richer level (a file, a list) would make a condition
// something that no table could name.
package setting

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/invopop/jsonschema"
)

// Names of the settings.
const (
	Route         = "route"          // path requested, e.g. "/read"
	Connections   = "connections"    // open TCP connections, all client workers together
	Pipelining    = "pipelining"     // requests in flight on each connection
	ClientWorkers = "client_workers" // load generator threads; 0 is one for each core in http_load, one event loop in autocannon
	Generator     = "generator"      // which load generator: "http_load" or "autocannon", "sink" for events, and others in texts and earlier runs
	Rate          = "rate"           // requests a second that are asked for; 0 is a closed loop
	Overload      = "overload"       // whether a rate that cannot be met is what the trial is about
	Workers       = "workers"        // the server's prefork workers, which is its GOMAXPROCS
	Prefork       = "prefork"        // whether the server forks workers at all
	Index         = "index"          // how the server picks a product: "pool" or "gofakeit"
	WriteBuffer   = "write_buffer"   // bytes of the server's write buffer per connection
	Stack         = "stack"          // what serves the routes: "fiber", "fasthttp" or "net-http"
	Server        = "server"         // "fiber"; "null": canned answers that cost next to nothing; or "producer" of events
	SpinNs        = "spin_ns"        // nanoseconds the server burns on each request, to be detected
	BlockRateNs   = "block_rate_ns"  // the block profile takes one event for each so many nanoseconds blocked
	Replicate     = "replicate"      // a number that changes nothing: the same condition again
)

// Names of the knobs of the kernel and of services. Each is one knob, so that
// no design can change two and see one. Where a machine, or a topology, does
// not have one, the run says so and its claims are not applicable.
const (
	ServerCPUs = "server_cpus" // cores the server may use, as a list: "0-5"
	IRQ        = "irq"         // where the interface's interrupts fire: "default" or "pinned"
	IRQBalance = "irqbalance"  // whether irqbalance runs, which moves interrupts about
	Crond      = "crond"       // whether crond runs
	RPS        = "rps"         // receive packet steering: any core handles packets
	RFS        = "rfs"         // receive flow steering: the core that reads the flow does
)

// Names of what is set where the server is a producer of events behind a batch
// processor, and the client the receiver of its batches.
const (
	Variant       = "variant"              // which batch processor
	EventRate     = "event_rate"           // events a second offered; 0 looks for the highest that is delivered
	Pacing        = "pacing"               // "open": events are due at fixed times; "ticker": what is late is never offered
	EventBytes    = "event_bytes"          // bytes of one event
	BatchEvents   = "batch_events"         // events of a full batch
	FlushMs       = "flush_interval_ms"    // milliseconds after which a batch leaves that is not full
	QueueEvents   = "queue_events"         // events that the processor's channel holds
	WhenFull      = "when_full"            // "block" or "drop", where the channel holds no more
	Stagger       = "stagger"              // whether a pool's workers flush at different times
	Attempts      = "attempts"             // how often the library's own processor tries a batch
	SinkLatencyMs = "sink_latency_ms"      // milliseconds that the receiver takes to answer
	SinkErrors    = "sink_errors_permille" // of a thousand batches, how many the receiver refuses
)

// HTTPLoadVersion is that of the lab's own load generator. It goes up when a
// server would cost another amount under the same load: what earlier versions
// measured then no longer counts together with what this one does. Version 1 let
// the server wake it, which was part of what a request cost.
const HTTPLoadVersion = "2"

// Words that more than this list has to know.
const (
	HTTPLoad   = "http_load"  // generators: the lab's own
	Autocannon = "autocannon" // the published runs' own, and what an absent generator means
	Fortio     = "fortio"     // in texts and earlier runs only
	Sink       = "sink"       // receives what Producer sends, and counts it
	Fiber      = "fiber"      // servers
	Null       = "null"
	Producer   = "producer"
	Library    = "batch" // the variant that is lab/batch
)

type kind int

const (
	number kind = iota
	text
	boolean
)

type def struct {
	kind  kind
	least int64 // of a number
	doc   string
	words []string // of a text: all there are; nil where it has a pattern
}

var defs = map[string]def{
	Route:         {text, 0, "path requested", nil},
	Connections:   {number, 1, "open TCP connections", nil},
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
	Server:        {text, 0, "which server", []string{Fiber, Null, Producer}},
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

// A path and a list of cores stand on command lines and in addresses: with
// other signs than these, "@127.0.0.1:1/x" for one, they would mean something
// else there. Texts have loads of several paths, with the share of each.
var (
	path     = `/([A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*/?)?`
	onePath  = regexp.MustCompile(`^` + path + `$`)
	patterns = map[string]*regexp.Regexp{
		Route:      regexp.MustCompile(`^(` + path + `|[0-9]{1,2} % /[a-z0-9 ]+( \+ [0-9]{1,2} % /[a-z0-9 ]+)+)$`),
		ServerCPUs: regexp.MustCompile(`^[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*$`),
	}
)

// longest is how many signs a level may have.
const longest = 100

// IsPath tells whether a route is one path, which a client can be sent to.
func IsPath(l Level) bool {
	s, ok := l.v.(string)
	return ok && len(s) <= longest && onePath.MatchString(s)
}

// Names returns every setting in the order in which tables show them.
func Names() []string {
	return []string{
		Server, Stack, Route, Prefork, Workers, Index, WriteBuffer, SpinNs, BlockRateNs, ServerCPUs, IRQ, IRQBalance, Crond, RPS, RFS,
		Variant, EventRate, Pacing, EventBytes, BatchEvents, FlushMs, QueueEvents, WhenFull, Stagger, Attempts, SinkLatencyMs, SinkErrors,
		Generator, Connections, Pipelining, ClientWorkers, Rate, Overload, Replicate,
	}
}

// A Level is the value of one setting: a whole number, a string or a truth
// value. The zero Level is invalid.
type Level struct{ v any }

// Int, String and Bool make levels.
func Int(n int64) Level     { return Level{n} }
func String(s string) Level { return Level{s} }
func Bool(b bool) Level     { return Level{b} }

// Of converts a decoded TOML or JSON value, refusing what is not a scalar.
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
	return Level{}, fmt.Errorf("%v is not a level: use a whole number, a string or true/false", v)
}

// Check refuses a setting that does not exist or a level of the wrong kind.
func Check(name string, l Level) error {
	d, ok := defs[name]
	if !ok {
		return fmt.Errorf("unknown setting %q (known: %v)", name, Names())
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
	if !ok {
		return fmt.Errorf("setting %q (%s) cannot be %s", name, d.doc, l)
	}
	return nil
}

// Int returns the level as a number; ok is false if it is none.
func (l Level) Int() (n int64, ok bool) { n, ok = l.v.(int64); return }

// Bool returns the level as a truth value; ok is false if it is none.
func (l Level) Bool() (b, ok bool) { b, ok = l.v.(bool); return }

// IsZero tells whether the level was never set.
func (l Level) IsZero() bool { return l.v == nil }

// String gives the level as it stands in a condition's name.
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

// Less orders levels: numbers by size, false before true, strings by letter.
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

// Key names the combination, settings in the order of Names: it is the same
// for the same levels, and readable ("workers=4 connections=100").
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

// Without returns the levels less one setting: what stays the same when that
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

// With returns these levels overlaid by others.
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
