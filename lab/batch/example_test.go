package batch_test

import (
	"context"
	"fmt"
	"time"

	"github.com/line-rate/line-rate/lab/batch"
)

func Example() {
	send := func(_ context.Context, events []string) error {
		fmt.Println(len(events), "events")
		return nil
	}
	b, err := batch.New(send,
		batch.MaxCount(2),
		batch.Interval(time.Minute),
		batch.Ordered(),
		batch.WithRetry(batch.Backoff(100*time.Millisecond, 10*time.Second, 5)))
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	for _, e := range []string{"a", "b", "c"} {
		if err := b.Add(ctx, e); err != nil {
			panic(err)
		}
	}
	undelivered, err := b.Close(ctx)
	fmt.Println(len(undelivered), err)
	// Output:
	// 2 events
	// 1 events
	// 0 <nil>
}

// Close gives up when its context ends, and hands back what it still has.
func ExampleBatcher_Close() {
	never := func(ctx context.Context, _ []int) error {
		<-ctx.Done()
		return ctx.Err()
	}
	b, err := batch.New(never, batch.MaxCount(1), batch.Ordered())
	if err != nil {
		panic(err)
	}
	for n := range 3 {
		_ = b.TryAdd(n)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	undelivered, err := b.Close(ctx)
	fmt.Println(len(undelivered), err)
	// Output:
	// 3 context deadline exceeded
}
