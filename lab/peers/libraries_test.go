package peers

import (
	"context"
	"math"
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

type ownBatch struct{ *batch.Batcher[event] }

func openBatch(s sink, opts ...batch.Option) queue {
	b, err := batch.New(func(_ context.Context, events []event) error {
		s.take(len(events), encode(events, same))
		return nil
	}, append([]batch.Option{batch.MaxCount(count), batch.Capacity(capacity), batch.InFlight(inFlight),
		batch.Interval(interval)}, opts...)...)
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

type bundled struct{ *bundler.Bundler }

func openBundler(s sink) queue {
	b := bundler.NewBundler(event{}, func(items any) {
		events := items.([]event)
		s.take(len(events), encode(events, same))
	})
	b.DelayThreshold, b.BundleCountThreshold, b.HandlerLimit = interval, count, inFlight
	b.BundleByteThreshold, b.BufferedByteLimit = math.MaxInt, capacity // an event counts as one byte
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

// records is OpenTelemetry's processor of log records, with an exporter of ours.
type records struct{ *sdklog.BatchProcessor }

func openLog(s sink) queue {
	return records{sdklog.NewBatchProcessor(exporter{s}, sdklog.WithMaxQueueSize(capacity),
		sdklog.WithExportMaxBatchSize(count), sdklog.WithExportInterval(interval))}
}

func (r records) add(from, to uint64) {
	for n := from; n < to; n++ {
		var record sdklog.Record
		record.SetBody(attribute.Int64Value(int64(n)))
		if err := r.OnEmit(context.Background(), &record); err != nil {
			panic(err)
		}
	}
}

func (r records) close() {
	if err := r.Shutdown(context.Background()); err != nil {
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

// spans is OpenTelemetry's processor of spans.
type spans struct {
	sdktrace.SpanProcessor
	span sdktrace.ReadOnlySpan
}

func openSpans(s sink) queue {
	stub := tracetest.SpanStub{SpanContext: trace.NewSpanContext(trace.SpanContextConfig{TraceFlags: trace.FlagsSampled})}
	return &spans{
		sdktrace.NewBatchSpanProcessor(spanExporter{s}, sdktrace.WithBlocking(), sdktrace.WithMaxQueueSize(capacity),
			sdktrace.WithMaxExportBatchSize(count), sdktrace.WithBatchTimeout(interval)),
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
