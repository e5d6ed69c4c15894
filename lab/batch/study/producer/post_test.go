package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/line-rate/line-rate/lab/batch/study/event"
)

// If a batch is refused before it was read, nothing reads it any more when post returns:
// the variant may use its events again.
func TestPostGivesTheEventsBack(t *testing.T) {
	n := 0
	sink := takes(t, func() int { n++; return []int{503, 0}[n%2] })
	p := newPoster[[4096]byte](sink.Listener.Addr().String())
	defer p.client.CloseIdleConnections()
	events := make([][4096]byte, 500)
	for i := range 20 {
		for j := range events {
			copy(events[j][:], bytes.Repeat([]byte("abcdefghijklmnopqrstuvwxyz"), 158))
			event.Put(events[j][:], uint64(i*len(events)+j), 1)
		}
		if err := p.post(t.Context(), events); (err != nil) != (i%2 == 1) {
			t.Errorf("batch %d: %v", i, err)
		}
		clear(events) // the race detector sees any reader that goes on
	}
	if len(sink.seen) != 10*len(events) {
		t.Errorf("%d came", len(sink.seen))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.post(ctx, events); err == nil {
		t.Error("posted after its context's end")
	}
}
