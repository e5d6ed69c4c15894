package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
	"github.com/line-rate/line-rate/lab/load"
	"github.com/line-rate/line-rate/lab/load/h2"
)

type loadCall struct {
	target load.Target // that is loaded
	URL    string      `arg:"" name:"url" help:"Its address, as http://127.0.0.1:8080/path or 127.0.0.1:8080."`
	probe.Asking
	UnixSocket  string        `more:"" name:"unix-socket" placeholder:"PATH" help:"Connect to this socket; host and port of the URL are then only the Host header."`
	Connections int           `short:"c" default:"10" placeholder:"N" help:"Open connections (default 10)."`
	Pipelining  int           `more:"" short:"p" default:"1" placeholder:"N" help:"Requests in flight on each connection (default 1)."`
	Duration    time.Duration `short:"d" default:"10s" placeholder:"DURATION" help:"How long it counts (default 10s)."`
	Requests    int           `short:"n" placeholder:"N" help:"Requests in all, in place of a duration; an hour at most."`
	Warmup      time.Duration `more:"" placeholder:"DURATION" help:"Load before that, which does not count (default: none)."`
	Rate        float64       `short:"R" placeholder:"N" help:"Requests a second (default: as fast as it goes)."`
	Threads     int           `more:"" short:"t" placeholder:"N" help:"Threads of the client (default: one for each core that it may use)."`
	Timeout     time.Duration `more:"" default:"10s" placeholder:"DURATION" help:"After which a request is given up (default 10s)."`
	Fail        []string      `sep:"none" placeholder:"'p99<5ms'" help:"Exit with 1 if this does not hold; or rps>1000."`
	JSON        bool          `name:"json" help:"Print JSON, for programs."`
	HDR         string        `more:"" name:"hdr" placeholder:"FILE" help:"Also write all latencies to FILE, as a log of HdrHistogram, in nanoseconds."`
}

func (c *loadCall) do(ctx context.Context, out io.Writer) (int, error) {
	if !strings.Contains(c.URL, "://") {
		c.URL = "http://" + c.URL
	}
	p, err := c.plan()
	if err != nil {
		return cli.Failed, err
	}
	load.Begin()
	r, err := load.Run(ctx, p, load.Options{HTTP2: h2.New})
	switch {
	case ctx.Err() != nil:
		err = errors.New("interrupted")
	case errors.Is(err, load.ErrNotReached):
		err = fmt.Errorf("%w; start it first, or correct its host and port", err)
	case err != nil || r.Summary.Targets[0].Requests == 0:
		if other := probe.Instead(ctx, c.target, err); other != "" {
			err = fmt.Errorf("%s: %s", c.URL, other)
		}
	}
	if err == nil && c.HDR != "" {
		err = writeHDR(c.HDR, &r.Summary)
	}
	if err != nil {
		return cli.Failed, errors.New(strings.TrimPrefix(err.Error(), fmt.Sprintf("target %q, ", c.URL)))
	}
	counted, t := r.Slots[len(r.Slots)-1], &r.Summary.Targets[0]
	missed, faults := c.missed(t, counted), c.faults(t, counted)
	status := min(len(missed)+len(faults), 1)
	text := []byte(c.table(t, counted, missed, faults))
	if c.JSON {
		text, err = asJSON(struct {
			Slot    load.SlotReport `json:"slot"`
			Summary load.Summary    `json:"summary"`
		}{counted, r.Summary})
	}
	if err == nil {
		_, err = out.Write(text)
	}
	return status, err
}

// plan is what the flags ask for.
func (c *loadCall) plan() (*load.Plan, error) {
	path := ""
	if u, err := url.Parse(c.URL); err == nil {
		u.Path = cmp.Or(u.Path, "/")
		c.URL = u.String()
		if c.Scenario == "" || strings.Trim(u.RequestURI(), "/") != "" {
			path = u.RequestURI()
		}
	}
	t, err := c.Way(strings.HasPrefix(strings.ToLower(c.URL), "https:"))
	if err == nil && c.UnixSocket != "" {
		t.Unix, err = filepath.Abs(c.UnixSocket)
	}
	asked, wrong := c.Asked(path)
	if err = cmp.Or(err, wrong); err != nil {
		return nil, err
	}
	t.Name, t.URL, t.Connections, t.Pipelining, t.Rate = c.URL, c.URL, c.Connections, c.Pipelining, c.Rate
	if !asked.IsPlain() {
		t.Requests = asked
	}
	c.target = t
	p := &load.Plan{Threads: c.Threads, TimeoutS: c.Timeout.Seconds(), Targets: []load.Target{c.target}}
	if c.Warmup > 0 {
		p.Slots = append(p.Slots, load.Slot{Seconds: c.Warmup.Seconds()})
	}
	if c.Requests > 0 {
		c.Duration = time.Hour // at the longest
	}
	p.Slots = append(p.Slots, load.Slot{Seconds: c.Duration.Seconds(), Requests: c.Requests, Counts: true})
	if err := p.Check(); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "targets/0: "))
	}
	for _, f := range c.Fail {
		if _, _, err := parseBound(f); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(filepath.Dir(c.HDR)); err != nil { // told before the load, not after it
		return nil, fmt.Errorf("--hdr: %w", err)
	}
	return p, nil
}

// latencies are the figures that a line has.
var latencies = []string{"p50", "p90", "p99", "p99.9", "max", "mean"}

// figure is the name that package load has for one of them.
func figure(name string) string { return "latency_" + strings.Replace(name, ".", "", 1) + "_s" }

// parseBound reads what --fail says: that a latency is below a time in seconds, as p99<5ms, or rps above a
// number, as rps>1000.
func parseBound(text string) (name string, limit float64, err error) {
	name, after, below := strings.Cut(text, "<")
	if name = strings.TrimSpace(name); below && slices.Contains(latencies, name) {
		if d, err := time.ParseDuration(strings.TrimSpace(after)); err == nil && d > 0 {
			return name, d.Seconds(), nil
		}
	}
	if name, after, above := strings.Cut(text, ">"); above && strings.TrimSpace(name) == "rps" {
		if v, err := strconv.ParseFloat(strings.TrimSpace(after), 64); err == nil && v > 0 {
			return "rps", v, nil
		}
	}
	return "", 0, fmt.Errorf("--fail %q: write one of %s below a time, as 'p99<5ms', or 'rps>1000'", strict.Visible(text, 40),
		strings.Join(latencies, ", "))
}

// missed are the bounds of --fail that do not hold.
func (c *loadCall) missed(t *load.TargetSummary, slot load.SlotReport) (lines []string) {
	for _, text := range c.Fail {
		name, limit, _ := parseBound(text) // read before the load
		v, known := t.Figures()[figure(name)]
		switch {
		case name == "rps" && float64(t.Requests) <= limit*slot.Seconds:
			lines = append(lines, fmt.Sprintf("%s: there were %s/s", text, words.Figure("", float64(t.Requests)/slot.Seconds)))
		case name == "rps":
		case !known:
			lines = append(lines, text+": it is not known, since too many requests had no answer")
		case v >= limit:
			lines = append(lines, text+": it is "+words.Time(v))
		}
	}
	return lines
}

// table is what a person reads.
func (c *loadCall) table(t *load.TargetSummary, slot load.SlotReport, missed, faults []string) string {
	var b strings.Builder
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s  %s\n", name, fmt.Sprintf(format, args...))
	}
	lasts := words.Duration(c.Duration)
	if c.Requests > 0 {
		lasts = words.Count(c.Requests, "request")
	}
	fmt.Fprintf(&b, "%s: %s, %d in flight on each, %s", c.URL, words.Count(c.Connections, "connection"), c.Pipelining, lasts)
	if spoken := probe.Spoken(c.target); spoken != probe.Plain {
		b.WriteString(", " + spoken)
	}
	b.WriteString("\n")
	if slot.Failed == "" {
		row("requests", "%s/s; %s in all", words.Figure("", float64(t.Requests)/slot.Seconds), words.Thousands(int(t.Requests)))
		row("received", "%s/s", words.Size(int(float64(t.Bytes)/slot.Seconds)))
	}
	var parts []string
	for _, name := range latencies {
		if v, ok := t.Figures()[figure(name)]; ok {
			parts = append(parts, name+" "+words.Time(v))
		}
	}
	if parts != nil {
		row("latency", "%s", strings.Join(parts, ", "))
	}
	if slot.Seconds > 0 {
		row("client", "%.2f of a core, its busiest thread %.2f", slot.ClientCPUS/slot.Seconds, slot.BusiestThreadS/slot.Seconds)
	}
	delayed := probe.Delayed(t.Figures()[figure("p50")])
	for _, note := range []struct {
		is   bool
		text string
	}{
		{slot.BusiestThreadS > gate.CPUSaturated*slot.Seconds, "the client had no more to give, so this is what it can ask and not what the server can answer"},
		{slot.Failed == "" && c.Requests == 0 && slot.Seconds < 0.9*c.Duration.Seconds(),
			"it stopped after " + words.Time(slot.Seconds) + ", when no connection was left"},
		{t.Reopened > 0, words.Count(int(t.Reopened), "connection was reopened: the server announced its end",
			"connections were reopened: the server announced their end")},
		{t.Crossed > 0, words.Count(int(t.Crossed), "request was", "requests were") +
			" asked again: the server closed the connection before it answered"},
		{delayed != "", delayed},
		{t.Varies, "the body changes in the course of the load, so its bytes are not compared"},
		{t.Statuses[http.StatusTooManyRequests] > 0, "the server limits its rate (status 429)"},
		{strings.HasPrefix(c.target.URL, "https:") && c.Cert == "" && t.Answered == 0,
			"the server may want a certificate of its client: give --cert and --key"},
	} {
		if note.is {
			row("note", "%s", note.text)
		}
	}
	for _, r := range t.ByRequest {
		if l := r.Latency; l != nil && len(t.ByRequest) > 1 {
			row("request", "%s: %s, p50 %s, p99 %s, %s", r.Name, words.Thousands(int(l.N)), words.Time(l.P50), words.Time(l.P99),
				words.Count(int(r.Unexpected+r.Lost+r.Mismatches), "fault"))
		}
	}
	if t.SendLag != nil {
		row("sent late", "p50 %s, p99 %s", words.Time(t.SendLag.P50), words.Time(t.SendLag.P99))
	}
	for _, line := range missed {
		row("not held", "%s", line)
	}
	row("failed", "%s", cmp.Or(strings.Join(faults, "; "), "none"))
	return b.String()
}

// faults say what went wrong, with counts; none if nothing did.
func (c *loadCall) faults(t *load.TargetSummary, slot load.SlotReport) (lines []string) {
	if slot.Failed != "" {
		lines = append(lines, slot.Failed)
	}
	for _, status := range slices.Sorted(maps.Keys(t.Statuses)) {
		lines = append(lines, fmt.Sprintf("%s of %s had status %d", words.Thousands(int(t.Statuses[status])),
			words.Count(int(t.Answered), "answer"), status))
	}
	answer := "unlike the first"
	if c.Scenario != "" || len(c.Expect) > 0 {
		answer = "not as expected"
	}
	for _, f := range []struct {
		n               int64
		one, many, what string
	}{
		{t.Mismatches, "answer was", "answers were", answer},
		{t.Errors, "request", "requests", "had no right answer"},
		{t.Timeouts, "request", "requests", "timed out"},
		{t.Resets, "connection was", "connections were", "ended by the server without an announcement"},
		{t.Unanswered, "request", "requests", "had no answer in time"},
	} {
		if f.n > 0 {
			lines = append(lines, words.Count(int(f.n), f.one, f.many)+" "+f.what)
		}
	}
	for _, first := range []string{t.Fault, t.Mismatch} {
		if first != "" && !strings.HasPrefix(first, "status ") {
			lines = append(lines, "first: "+first)
		}
	}
	return lines
}

// writeHDR writes a load's latencies as a log with one interval. HdrHistogram's own steps, of three
// digits, are about as fine as those in which they were counted.
func writeHDR(path string, s *load.Summary) error {
	h := hdrhistogram.New(1, int64(2*time.Hour), 3)
	var wrong error
	s.Targets[0].Histogram.Each(func(ns, n int64) { wrong = errors.Join(wrong, h.RecordValues(max(ns, 1), n)) })
	h.SetStartTimeMs(s.Start.UnixMilli())
	h.SetEndTimeMs(s.Finish.UnixMilli())
	var text bytes.Buffer
	w := hdrhistogram.NewHistogramLogWriter(&text)
	w.SetBaseTime(s.Start.UnixMilli())
	wrong = errors.Join(wrong, w.OutputLogFormatVersion(), w.OutputStartTime(s.Start.UnixMilli()), w.OutputLegend(),
		w.OutputIntervalHistogram(h))
	if wrong != nil {
		return wrong
	}
	return strict.Replace(path, text.Bytes())
}
