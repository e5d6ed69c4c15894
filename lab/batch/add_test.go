package batch

import (
	"context"
	"sync"
	"testing"
)

func TestAddingAllocatesNothing(t *testing.T) {
	b := made(t, func(context.Context, []event) error { return nil }, MaxCount(100), InFlight(2))
	defer func() { _, _ = b.Close(context.Background()) }()
	ctx := context.Background()
	for range 10_000 {
		_ = b.Add(ctx, event{})
	}
	if n := testing.AllocsPerRun(100_000, func() { _ = b.Add(ctx, event{}) }); n >= 0.5 {
		t.Errorf("%v allocations an event", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	type payload [56]byte
	for _, ordered := range []bool{false, true} {
		for _, producers := range []int{1, 2, 8, 100} {
			name := map[bool]string{false: "sharded", true: "ordered"}[ordered]
			b.Run(name+"/"+itoa(producers), func(b *testing.B) {
				opts := []Option{MaxCount(1000), Capacity(10_000)}
				if ordered {
					opts = append(opts, Ordered())
				}
				x, err := New(func(context.Context, []payload) error { return nil }, opts...)
				if err != nil {
					b.Fatal(err)
				}
				ctx := context.Background()
				b.ReportAllocs()
				var all sync.WaitGroup
				b.ResetTimer()
				for range producers {
					all.Go(func() {
						for range b.N / producers {
							_ = x.Add(ctx, payload{})
						}
					})
				}
				all.Wait()
				b.StopTimer()
				_, _ = x.Close(ctx)
			})
		}
	}
}

func itoa(n int) string { return map[int]string{1: "1", 2: "2", 8: "8", 100: "100"}[n] }
