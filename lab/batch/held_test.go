package batch

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
)

// Events that are gathered, wait or are in flight are held, each until it is accounted
// for. The meter is told only of batches that wait.
func TestWhatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := make(chan error)
		m := &tally{}
		b := made(t, func(context.Context, []int) error { return <-step }, MaxCount(10), Capacity(40), Ordered(),
			WhenFull(DropOldest), Interval(time.Hour), WithMeter(m))
		check := func(after string, held, queued int) {
			t.Helper()
			synctest.Wait()
			if b.Held() != held || m.queued.Load() != int64(queued) {
				t.Errorf("%s: %d held and %d queued, want %d and %d", after, b.Held(), m.queued.Load(), held, queued)
			}
		}
		add := func(n int) {
			for range n {
				if err := b.TryAdd(n); err != nil {
					t.Fatal(err)
				}
			}
		}
		check("New", 0, 0)
		add(10)
		check("a batch in flight", 10, 0)
		add(20)
		check("two that wait", 30, 20)
		add(5)
		check("and half of one", 35, 20)
		add(6)
		check("and one more than there is room for", 31, 20)
		step <- errSink
		check("one failed", 21, 10)
		step <- nil
		check("one delivered", 11, 0)
		go func() { step <- nil; step <- nil }()
		if left, err := b.Close(t.Context()); len(left) > 0 ||
			fmt.Sprint(err) != "batch: 20 events lost: 10 to make room, and 10 since sending failed: made up" {
			t.Fatal(left, err)
		}
		check("Close", 0, 0)
		if m.full.Load() != 10 || m.failed.Load() != 10 || m.delivered.Load() != 21 {
			t.Errorf("%d dropped, %d failed, %d delivered", m.full.Load(), m.failed.Load(), m.delivered.Load())
		}
	})
}

// A buffer that is empty keeps nothing alive.
func TestWhatWasSentIsForgotten(t *testing.T) {
	b := made(t, func(context.Context, []*int) error { return nil }, MaxCount(10), Capacity(1))
	for range 100 {
		if err := b.Add(t.Context(), new(int)); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	buffers := 0
	for buf := b.take(); buf != nil; buf = b.take() {
		buffers++
		for _, p := range buf.events[:10] {
			if p != nil {
				t.Fatal("an event that was sent can still be reached")
			}
		}
	}
	if buffers != cap(b.free) {
		t.Errorf("%d of %d buffers are free after Close", buffers, cap(b.free))
	}
	type nested struct {
		n [4]struct{ a, b int64 }
		f func()
	}
	for _, c := range []struct {
		value any
		want  bool
	}{{1, false}, {1.5, false}, {complex(1, 1), false}, {uintptr(1), false}, {[3]bool{}, false}, {[0]*int{}, false},
		{event{}, false}, {struct{}{}, false},
		{"a", true}, {[]int{}, true}, {new(int), true}, {[2]string{}, true}, {nested{}, true}, {map[int]int{}, true},
		{struct{ e error }{}, true}, {make(chan int), true}, {unsafe.Pointer(nil), true}} {
		if got := pointers(reflect.TypeOf(c.value)); got != c.want {
			t.Errorf("%T has pointers: %v", c.value, got)
		}
	}
	if !pointers(reflect.TypeFor[any]()) {
		t.Error("an interface has no pointers")
	}
}
