package fleet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// protocol is the version of the frames. Hosts of a fleet have the lab at one
// commit, so there is no need to understand two.
const protocol = 1

// A frame is one line of JSON between the host that started a run and another.
type frame struct {
	Kind   kind     `json:"kind"`
	ID     int64    `json:"id,omitempty"`     // of a load or a question; the answer has the same
	Client int      `json:"client,omitempty"` // that a load is for, or a line from; counts from 1
	Ask    *Asked   `json:"ask,omitempty"`
	Hello  *Hello   `json:"hello,omitempty"`
	Hellos []Hello  `json:"hellos,omitempty"`
	Load   *Load    `json:"load,omitempty"`
	Seen   *Seen    `json:"seen,omitempty"`
	Clocks []Clock  `json:"clocks,omitempty"`
	Files  []Kept   `json:"files,omitempty"`
	Path   string   `json:"path,omitempty"`
	Data   []byte   `json:"data,omitempty"`
	Tried  bool     `json:"tried,omitempty"` // files of a run for trial, which are kept apart
	Text   string   `json:"text,omitempty"`  // a line of output, or why something failed
	Why    failure  `json:"why,omitempty"`
	WallNS int64    `json:"wall_ns,omitempty"`
	NS     int64    `json:"ns,omitempty"`
	BoundS *float64 `json:"bound_s,omitempty"` // of a clock's error, by chrony
}

// A kind says what a frame is for, and which of its fields it has.
type kind string

const (
	kindAsk     kind = "ask"     // first of all, from the host that started the run: Ask
	kindHello   kind = "hello"   // the answer: Hello, which the one that keeps files has not
	kindClients kind = "clients" // to the engine, once all clients are there: Hellos
	kindBeat    kind = "beat"    // each second, both ways
	kindClock   kind = "clock"   // ID; the answer has WallNS
	kindTrack   kind = "track"   // ID; the answer has BoundS if chrony runs
	kindClocks  kind = "clocks"  // from the engine: ID; the answer has Clocks, or Text why not
	kindLoad    kind = "load"    // ID, Client, Load
	kindStarted kind = "started" // ID, Client
	kindLine    kind = "line"    // ID, Client, Text: a line that a load printed
	kindRelease kind = "release" // ID, Client
	kindStop    kind = "stop"    // ID, Client, NS: the grace
	kindEnded   kind = "ended"   // ID, Client, Seen, and Text and Why if it failed
	kindLost    kind = "lost"    // to the engine: Client, Text
	kindEnd     kind = "end"     // to the engine: end in good order
	kindPrint   kind = "print"   // from the engine: Text for standard output, or with ID 2 for standard error
	kindKept    kind = "kept"    // files to collect: ID, Files, Tried
	kindFetch   kind = "fetch"   // ID, Path: one of them
	kindData    kind = "data"    // ID, Path, Data: the answer
	kindTaken   kind = "taken"   // ID: all files were collected, or Text says why not
)

// A failure tells how a load failed.
type failure string

const (
	failed  failure = "failed"  // once
	refused failure = "refused" // and the next would as well
)

// mostFrame limits a frame in bytes. The longest has a summary with the histograms
// of a thousand targets, which takes half of it.
const mostFrame = 64 << 20

// mostClients limits a fleet.
const mostClients = 1000

// line gives the frame as it is sent.
func (f frame) line() ([]byte, error) {
	var to bytes.Buffer
	e := json.NewEncoder(&to)
	e.SetEscapeHTML(false)
	if err := e.Encode(f); err != nil {
		return nil, err
	}
	if to.Len() > mostFrame {
		return nil, fmt.Errorf("a frame of %d bytes, where %d are the most", to.Len(), mostFrame)
	}
	return to.Bytes(), nil
}

// parse reads a frame. Whatever the line is, the outcome is a frame with all that
// its kind needs, or an error.
func parse(line []byte) (frame, error) {
	var f frame
	line = bytes.TrimSuffix(line, []byte("\n"))
	if err := strict.DecodeJSON(line, &f); err != nil {
		return frame{}, notFrame(line, err)
	}
	if err := f.check(); err != nil {
		return frame{}, fmt.Errorf("a frame %s: %w", strict.Line(string(f.Kind), 20), err)
	}
	return f, nil
}

// notFrame shows the beginning of a line that is no frame: most often it is a
// message that a shell's start-up files print.
func notFrame(line []byte, err error) error {
	if len(line) > 0 && line[0] == '{' {
		return fmt.Errorf("no frame: %w", err)
	}
	return fmt.Errorf("no frame: %q; what prints this on that host, as a login shell's ~/.bashrc may, has to do so for "+
		"people only ([[ $- = *i* ]] || return)", strict.Line(string(line[:min(len(line), 200)]), 60))
}

// needed has the fields without which a frame of a kind is none.
var needed = map[kind][]string{
	kindAsk: {"ask"}, kindHello: nil, kindBeat: nil, kindEnd: nil, kindPrint: nil, kindClients: nil,
	kindClock: {"id"}, kindTrack: {"id"}, kindClocks: {"id"}, kindTaken: {"id"}, kindKept: {"id"},
	kindLoad: {"id", "load"}, kindStarted: {"id"}, kindLine: {"id"}, kindRelease: {"id"}, kindStop: {"id"},
	kindEnded: {"id"}, kindLost: {"client"}, kindFetch: {"id", "path"}, kindData: {"id", "path"},
}

func (f frame) check() error {
	needs, known := needed[f.Kind]
	if !known {
		return errors.New("no such kind")
	}
	has := map[string]bool{"ask": f.Ask != nil, "id": f.ID > 0, "load": f.Load != nil, "client": f.Client > 0,
		"path": f.Path != ""}
	for _, name := range needs {
		if !has[name] {
			return fmt.Errorf("it has no usable %s", name)
		}
	}
	if len(f.Hellos) > mostClients || len(f.Files) > mostFiles {
		return errors.New("more of them than there are")
	}
	if f.Client < 0 || f.Client > mostClients || f.NS < 0 {
		return errors.New("a number out of its bounds")
	}
	if f.Why != "" && f.Why != failed && f.Why != refused {
		return errors.New("an unknown way to fail")
	}
	for _, one := range append(f.Hellos, deref(f.Hello)...) {
		if err := one.check(); err != nil {
			return err
		}
	}
	for _, one := range f.Files {
		if err := one.check(); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(f.Clocks, func(c Clock) bool { return c.UncertaintyS < 0 }) {
		return errors.New("an uncertainty below nought")
	}
	if f.BoundS != nil && *f.BoundS < 0 {
		return errors.New("a bound below nought")
	}
	if f.Ask != nil {
		return f.Ask.check()
	}
	if f.Seen != nil {
		return f.Seen.check()
	}
	return nil
}

func deref[T any](p *T) []T {
	if p == nil {
		return nil
	}
	return []T{*p}
}

// metricName is the form of the names of package metric.
var metricName = regexp.MustCompile(`^[a-z0-9_]{1,60}$`)

// check refuses what no telemetry gives. Figures that are too large for their
// metric are found by the check of the results file.
func (s Seen) check() error {
	const most = 10_000 // metrics or cores
	if len(s.Metrics) > most || len(s.Cores) > most {
		return errors.New("more figures than there are")
	}
	for name, v := range s.Metrics {
		if !metricName.MatchString(name) || v < 0 {
			return fmt.Errorf("a metric %q of %v", strict.Line(name, 60), v)
		}
	}
	for cpu, share := range s.Cores {
		if cpu < 0 || share < 0 || share > 1 {
			return fmt.Errorf("core %d is busy by %v", cpu, share)
		}
	}
	if s.Own < 0 || s.GapS < 0 || s.RxBytes < -1 || s.TxBytes < -1 {
		return errors.New("a figure below nought")
	}
	return oneLine("others", s.Others)
}

// digest is the form of a SHA-256.
var digest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// check refuses a hello that a results file could not hold.
func (h Hello) check() error {
	if h.Version != protocol {
		return nil // who reads it says so, and needs no more of it
	}
	texts := append([]string{h.Machine, h.Commit, h.Device, h.Note}, h.Left...)
	for _, m := range []map[string]string{h.Tools, h.Kernel} {
		for name, v := range m {
			texts = append(texts, name, v)
		}
	}
	for name, b := range h.Binaries {
		if texts = append(texts, name, b.Version, b.Commit); !digest.MatchString(b.SHA256) {
			return fmt.Errorf("the digest of %q is none", strict.Line(name, 60))
		}
	}
	if err := oneLine("a text", texts...); err != nil {
		return err
	}
	if h.Machine == "" {
		return errors.New("it does not say on which machine it is")
	}
	if h.Memory < 0 || h.LineRate < 0 || len(h.CPUs) == 0 ||
		slices.ContainsFunc(h.CPUs, func(c int) bool { return c < 0 || c > 8192 }) {
		return errors.New("an impossible machine")
	}
	return nil
}

func oneLine(what string, texts ...string) error {
	for _, text := range texts {
		if err := strict.CheckLine(text); err != nil {
			return fmt.Errorf("%s %w", what, err)
		}
	}
	return nil
}

// said makes one line of a message that another host sent.
func said(text string) string {
	const most = 400
	return strings.TrimSpace(strict.Line(text, most))
}
