package main

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/eapache/go-resiliency/batcher"
	"go.opentelemetry.io/otel/attribute"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/api/support/bundler"

	"github.com/line-rate/line-rate/lab/batch"
)

// What all are set to, as far as they let themselves be set.
const (
	count    = 1_000  // events that make a batch
	capacity = 10_000 // events that wait
	inFlight = 4      // batches being sent at once
	interval = time.Second
)

// An event is 56 bytes, none of them a pointer.
type event struct {
	n    uint64
	rest [6]uint64
}

// A sink takes batches in. body appends to a slice what the batch is on the
// wire; a sink that does not want it does not ask.
type sink interface {
	take(events int, body func([]byte) []byte)
}

// A queue is what a peer comes to once it is open. It adds events by their
// numbers in a loop of its own, so that a peer is called as a service calls it:
// behind an interface each event would be copied once more, and 7 words that are
// no array would be handed to some in registers and to others not.
type queue interface {
	add(from, to uint64)
	close() // after the last add; it delivers what is left
}

// A peer is one way to get from events to batches.
type peer struct {
	name string
	full string // what becomes of an event for which there is no room, and other terms
	lose bool   // it may lose events
	each bool   // an add returns only when its batch was answered
	sink bool   // it has one; else what is added is forgotten
	own  bool   // each producer has one of its own
	open func(sink) queue
}

// queues opens a peer, and returns what each of so many producers adds to.
func (p peer) queues(s sink, producers int) queues {
	if !p.own {
		return slices.Repeat(queues{p.open(s)}, producers)
	}
	var q queues
	for range producers {
		q = append(q, p.open(s))
	}
	return q
}

type queues []queue

// close closes each of them once.
func (q queues) close() {
	for _, one := range slices.Compact(q) {
		one.close()
	}
}

// ours is what all others are compared with.
const ours = "lab/batch"

var peers = []peer{
	{name: ours, full: "waits", sink: true, open: func(s sink) queue { return openBatch(s) }},
	{name: "lab/batch, ordered", full: "waits; one batch in flight", sink: true, open: func(s sink) queue { return openBatch(s, batch.Ordered(), batch.InFlight(1)) }},
	{name: "no queue", full: "is sent by its producer, from a slice of its own: what there is to be had", sink: true, own: true, open: openSlice},
	{name: "mutex and append", full: "overwrites another, and none is sent: the floor of what is shared", lose: true, open: openBare},
	{name: "mutex, swapped buffers", full: "waits, and everybody with it", sink: true, open: openSwap},
	{name: "channel, 10 workers", full: "waits; up to 10,000 more are in the workers' buffers", sink: true, open: openPool},
	{name: "copying worker", full: "waits; what is in flight is not bounded", sink: true, open: openCopying},
	{name: "bundler", full: "waits (AddWait)", sink: true, open: openBundler},
	{name: "eapache batcher", full: "waits for its batch's answer, always; a batch is what came within 1 ms", each: true, sink: true, open: openBatcher},
	{name: "OpenTelemetry log", full: "replaces the oldest, which is lost; carries no more than its number", lose: true, sink: true, open: openLog},
	{name: "OpenTelemetry spans", full: "waits (WithBlocking); is a pointer to one and the same span", sink: true, open: openSpans},
}

// encode appends events, or what stands for them.
func encode[T any](items []T, of func(T) event) func([]byte) []byte {
	return func(b []byte) []byte {
		for _, item := range items {
			b = of(item).append(b)
		}
		return b
	}
}

func same(e event) event { return e }

type ownBatch struct{ *batch.Batcher[event] }

func openBatch(s sink, opts ...batch.Option) queue {
	b, err := batch.New(func(_ context.Context, events []event) error {
		s.take(len(events), encode(events, same))
		return nil
	}, append([]batch.Option{batch.MaxCount(count), batch.Capacity(capacity), batch.InFlight(inFlight), batch.Interval(interval)}, opts...)...)
	if err != nil {
		panic(err)
	}
	return ownBatch{b}
}

func (b ownBatch) add(from, to uint64) {
	ctx := context.Background()
	for n := from; n < to; n++ {
		if err := b.Add(ctx, event{n: n}); err != nil {
			panic(err)
		}
	}
}

func (b ownBatch) close() {
	if _, err := b.Close(context.Background()); err != nil {
		panic(err)
	}
}

// own is a slice, for one producer.
type own struct {
	sink
	events []event
}

func openSlice(s sink) queue { return &own{s, make([]event, 0, count)} }

func (o *own) add(from, to uint64) {
	for n := from; n < to; n++ {
		if o.events = append(o.events, event{n: n}); len(o.events) == count {
			o.close()
		}
	}
}

func (o *own) close() {
	o.take(len(o.events), encode(o.events, same))
	o.events = o.events[:0]
}

// bare is one mutex and one slice.
type bare struct {
	mu     sync.Mutex
	events []event
}

func openBare(sink) queue { return &bare{events: make([]event, 0, count)} }

func (b *bare) add(from, to uint64) {
	for n := from; n < to; n++ {
		b.put(event{n: n})
	}
}

func (b *bare) put(e event) {
	b.mu.Lock()
	if len(b.events) == count {
		b.events = b.events[:0]
	}
	b.events = append(b.events, e)
	b.mu.Unlock()
}

func (b *bare) close() {}

// swap is one mutex, a slice that is given away when it is full for one that is
// empty, and senders. Waiting for an empty one, it holds the mutex.
type swap struct {
	mu         sync.Mutex
	events     []event
	free, full chan []event
	senders    sync.WaitGroup
}

func openSwap(s sink) queue {
	const n = capacity / count
	w := &swap{free: make(chan []event, n), full: make(chan []event, n)}
	for range n {
		w.free <- make([]event, 0, count)
	}
	w.events = <-w.free
	for range inFlight {
		w.senders.Go(func() {
			for events := range w.full {
				s.take(len(events), encode(events, same))
				w.free <- events[:0]
			}
		})
	}
	return w
}

func (w *swap) add(from, to uint64) {
	for n := from; n < to; n++ {
		w.put(event{n: n})
	}
}

func (w *swap) put(e event) {
	w.mu.Lock()
	w.events = append(w.events, e)
	if len(w.events) == count {
		w.full <- w.events
		w.events = <-w.free
	}
	w.mu.Unlock()
}

func (w *swap) close() {
	w.full <- w.events
	close(w.full)
	w.senders.Wait()
}

// A pool is a channel and workers, each with a buffer and a ticker.
type pool struct {
	events  chan event
	workers sync.WaitGroup
}

func openPool(s sink) queue {
	p := &pool{events: make(chan event, capacity)}
	for range 10 {
		p.workers.Go(func() {
			p.gather(func(events []event) { s.take(len(events), encode(events, same)) })
		})
	}
	return p
}

// openCopying is the pool of one worker whose batches are copied and sent aside.
func openCopying(s sink) queue {
	p := &pool{events: make(chan event, capacity)}
	p.workers.Go(func() {
		p.gather(func(events []event) {
			events = append([]event(nil), events...)
			p.workers.Go(func() { s.take(len(events), encode(events, same)) })
		})
	})
	return p
}

func (p *pool) gather(send func([]event)) {
	buffer := make([]event, 0, count)
	flush := func() {
		if len(buffer) > 0 {
			send(buffer)
			buffer = buffer[:0]
		}
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case e, open := <-p.events:
			if !open {
				flush()
				return
			}
			if buffer = append(buffer, e); len(buffer) == count {
				flush()
			}
		case <-tick.C:
			flush()
		}
	}
}

func (p *pool) add(from, to uint64) {
	for n := from; n < to; n++ {
		p.events <- event{n: n}
	}
}

func (p *pool) close() {
	close(p.events)
	p.workers.Wait()
}

type bundled struct{ *bundler.Bundler }

func openBundler(s sink) queue {
	b := bundler.NewBundler(event{}, func(items any) {
		events := items.([]event)
		s.take(len(events), encode(events, same))
	})
	b.DelayThreshold, b.BundleCountThreshold, b.HandlerLimit = interval, count, inFlight
	b.BundleByteThreshold, b.BufferedByteLimit = math.MaxInt, capacity // a byte an event
	return bundled{b}
}

func (b bundled) add(from, to uint64) {
	for n := from; n < to; n++ {
		if err := b.AddWait(context.Background(), event{n: n}, 1); err != nil {
			panic(err)
		}
	}
}

func (b bundled) close() { b.Flush() }

type answered struct{ *batcher.Batcher }

func openBatcher(s sink) queue {
	return answered{batcher.New(time.Millisecond, func(items []any) error {
		s.take(len(items), encode(items, func(item any) event { return item.(event) }))
		return nil
	})}
}

func (a answered) add(from, to uint64) {
	for n := from; n < to; n++ {
		if err := a.Run(event{n: n}); err != nil {
			panic(err)
		}
	}
}

func (a answered) close() { a.Shutdown(true) }

// records is OpenTelemetry's processor of log records, and its own exporter.
type records struct {
	sink
	*sdklog.BatchProcessor
}

func openLog(s sink) queue {
	r := &records{sink: s}
	r.BatchProcessor = sdklog.NewBatchProcessor(exporter{s}, sdklog.WithMaxQueueSize(capacity), sdklog.WithExportMaxBatchSize(count), sdklog.WithExportInterval(interval))
	return r
}

func (r *records) add(from, to uint64) {
	for n := from; n < to; n++ {
		var record sdklog.Record
		record.SetBody(attribute.Int64Value(int64(n)))
		if err := r.OnEmit(context.Background(), &record); err != nil {
			panic(err)
		}
	}
}

func (r *records) close() {
	if err := r.BatchProcessor.Shutdown(context.Background()); err != nil {
		panic(err)
	}
}

// exporter gives log records to a sink.
type exporter struct{ sink }

func (x exporter) Export(_ context.Context, records []sdklog.Record) error {
	x.take(len(records), func(b []byte) []byte {
		for i := range records {
			b = event{n: uint64(records[i].Body().AsInt64())}.append(b)
		}
		return b
	})
	return nil
}
func (exporter) ForceFlush(context.Context) error { return nil }
func (exporter) Shutdown(context.Context) error   { return nil }

// spans is its processor of spans.
type spans struct {
	sdktrace.SpanProcessor
	span sdktrace.ReadOnlySpan
}

func openSpans(s sink) queue {
	stub := tracetest.SpanStub{SpanContext: trace.NewSpanContext(trace.SpanContextConfig{TraceFlags: trace.FlagsSampled})}
	return &spans{
		sdktrace.NewBatchSpanProcessor(spanExporter{s}, sdktrace.WithBlocking(), sdktrace.WithMaxQueueSize(capacity), sdktrace.WithMaxExportBatchSize(count), sdktrace.WithBatchTimeout(interval)),
		stub.Snapshot(),
	}
}

func (s *spans) add(from, to uint64) {
	for range to - from {
		s.OnEnd(s.span)
	}
}

func (s *spans) close() {
	if err := s.Shutdown(context.Background()); err != nil {
		panic(err)
	}
}

// spanExporter gives spans to a sink.
type spanExporter struct{ sink }

func (x spanExporter) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	x.take(len(spans), encode(spans, func(sdktrace.ReadOnlySpan) event { return event{} }))
	return nil
}
func (spanExporter) Shutdown(context.Context) error { return nil }
