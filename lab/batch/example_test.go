package batch_test

import (
	"context"
	"errors"
	"expvar"
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

// A batch that failed is tried again, after a longer wait each time.
func ExampleBackoff() {
	attempts := 0
	send := func(context.Context, []string) error {
		if attempts++; attempts < 3 {
			return errors.New("the receiver is busy")
		}
		return nil
	}
	b, err := batch.New(send, batch.WithRetry(batch.Backoff(time.Millisecond, time.Second, 5)))
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	_ = b.Add(ctx, "a")
	err = b.Flush(ctx)
	fmt.Println(attempts, "attempts,", err)
	_, _ = b.Close(ctx)
	// Output:
	// 3 attempts, <nil>
}

// An expvarMeter shows sums and counts at /debug/vars; for distributions use a metrics library.
type expvarMeter struct{ *expvar.Map }

func (m expvarMeter) Queued(delta int)     { m.Add("queued", int64(delta)) }
func (m expvarMeter) InFlight(delta int)   { m.Add("in_flight", int64(delta)) }
func (m expvarMeter) Delivered(events int) { m.Add("delivered", int64(events)) }
func (m expvarMeter) Dropped(events int, why batch.Reason) {
	m.Add("dropped_"+string(why), int64(events))
}
func (m expvarMeter) Sent(events int, took, waited time.Duration, err error) {
	m.Add("attempts", 1)
	m.Add("send_ns", took.Nanoseconds())
	m.Add("wait_ns", waited.Nanoseconds())
}

// A service that must not wait when the batcher is full drops the oldest events, and
// counts them where an operator looks.
func ExampleWhenFull() {
	vars := new(expvar.Map) // expvar.NewMap("events") in a service
	sending, answer := make(chan bool), make(chan bool)
	send := func(_ context.Context, events []int) error {
		sending <- true
		<-answer
		fmt.Println(events)
		return nil
	}
	b, err := batch.New(send,
		batch.MaxCount(2),
		batch.Capacity(6),
		batch.Ordered(),
		batch.WhenFull(batch.DropOldest),
		batch.WithMeter(expvarMeter{vars}))
	if err != nil {
		panic(err)
	}
	add := func(events ...int) {
		for _, n := range events {
			if err := b.Add(context.Background(), n); err != nil {
				panic(err)
			}
		}
	}
	add(1, 2)
	<-sending // the receiver takes its time
	add(3, 4, 5, 6, 7, 8)
	fmt.Println(b.Held(), "held,", vars.Get("queued"), "of them wait to be sent,", vars.Get("dropped_full"), "dropped")
	go func() {
		for range 2 {
			answer <- true
			<-sending
		}
		answer <- true
	}()
	_, err = b.Close(context.Background())
	fmt.Println(err)
	fmt.Println(vars.Get("delivered"), "delivered in", vars.Get("attempts"), "batches")
	// Output:
	// 6 held, 4 of them wait to be sent, 2 dropped
	// [1 2]
	// [5 6]
	// [7 8]
	// batch: 2 events lost to make room
	// 6 delivered in 3 batches
}
