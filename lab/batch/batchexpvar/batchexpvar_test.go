package batchexpvar

import (
	"context"
	"encoding/json"
	"errors"
	"expvar"
	"testing"

	"github.com/line-rate/line-rate/lab/batch"
)

func TestVars(t *testing.T) {
	vars := new(expvar.Map).Init() // not published: a test may run twice
	calls := 0
	b, err := batch.New(func(context.Context, []int) error {
		if calls++; calls == 1 {
			return errors.New("made up")
		}
		return nil
	}, batch.MaxCount(10), batch.Ordered(), batch.WithMeter(New(vars)))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 25 {
		if err := b.Add(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Close(t.Context()); err == nil {
		t.Fatal("Close says nothing of the batch that failed")
	}
	var got map[string]int64
	if err := json.Unmarshal([]byte(vars.String()), &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int64{"attempts": 3, "attempted": 25, "queued": 0, "failed_attempts": 1,
		"delivered": 15, "dropped_failed": 10, "dropped_full": 0, "in_flight": 0} {
		if got[name] != want {
			t.Errorf("%s is %d, want %d", name, got[name], want)
		}
	}
	if got["wait_ns"] <= 0 {
		t.Errorf("wait_ns is %d", got["wait_ns"])
	}
}
