package batch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"

	"github.com/line-rate/line-rate/lab/batch"
)

// An Order is an event of this example.
type Order struct {
	ID    int
	Cents int
}

// A StatusError is an answer other than success.
type StatusError struct {
	Code  int
	After time.Duration // how long the receiver asks us to wait
}

func (s *StatusError) Error() string { return "the receiver answers " + strconv.Itoa(s.Code) }

// post sends a batch as a JSON array. The receiver answers 200 if it took in the whole batch, and
// 207 with the places of the orders that it did not take.
func post(client *http.Client, url string) batch.Send[Order] {
	return func(ctx context.Context, orders []Order) error {
		body, err := json.Marshal(orders) // a copy: the client may read it after Do has returned
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20)) // read to its end, so that the connection is used again
		switch {
		case err != nil:
			return err // the receiver may have the orders already: they may arrive twice
		case resp.StatusCode == http.StatusOK:
			return nil
		case resp.StatusCode == http.StatusMultiStatus:
			var refused struct{ Refused []int }
			if err := json.Unmarshal(answer, &refused); err != nil {
				return err
			}
			return &batch.PartialError{Rest: refused.Refused, Err: &StatusError{Code: resp.StatusCode}}
		}
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // a date gives 0, and the backoff decides
		return &StatusError{resp.StatusCode, time.Duration(seconds) * time.Second}
	}
}

// patience tries again what may succeed later: not a request that the receiver calls
// wrong, and not before the time that the receiver asks for.
func patience(backoff batch.Retry) batch.Retry {
	return func(attempt int, err error) (time.Duration, bool) {
		wait, again := backoff(attempt, err)
		if status, ok := errors.AsType[*StatusError](err); ok {
			if status.Code/100 == 4 && status.Code != http.StatusTooManyRequests {
				return 0, false
			}
			wait = max(wait, status.After)
		}
		return wait, again
	}
}

// A service posts orders to a receiver that is busy at first, then takes a part of the
// batch, and never takes the order that has no price. Nobody delivers that one: Flush and
// the log say so.
func ExampleSend_http() {
	requests := 0
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests++; requests == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var orders []Order
		if err := json.NewDecoder(r.Body).Decode(&orders); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		refused := []int{}
		for i, o := range orders {
			if o.Cents == 0 || requests == 2 && o.ID > 3 {
				refused = append(refused, i)
			} else {
				fmt.Println("request", requests, "order", o.ID)
			}
		}
		if len(refused) > 0 {
			w.WriteHeader(http.StatusMultiStatus)
			_ = json.NewEncoder(w).Encode(map[string]any{"refused": refused})
		}
	}))
	defer receiver.Close()

	b, err := batch.New(post(receiver.Client(), receiver.URL),
		batch.MaxCount(100),
		batch.Interval(time.Minute),
		batch.Ordered(),
		batch.Timeout(5*time.Second),
		batch.WithRetry(patience(batch.Backoff(time.Millisecond, 10*time.Millisecond, 4))),
		// Without this option, losses go to slog.Default.
		batch.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	for _, o := range []Order{{1, 500}, {2, 0}, {3, 250}, {4, 800}, {5, 100}} {
		if err := b.Add(ctx, o); err != nil {
			panic(err)
		}
	}
	err = b.Flush(ctx)
	fmt.Println("Flush:", err)
	if lost, ok := errors.AsType[*batch.LostError](err); ok {
		fmt.Println("to an alarm:", lost.Failed)
	}
	undelivered, err := b.Close(ctx)
	fmt.Println("Close:", len(undelivered), err)
	fmt.Println(requests, "requests")
	// Output:
	// request 2 order 1
	// request 2 order 3
	// request 3 order 4
	// request 3 order 5
	// Flush: batch: 1 event lost: sending failed: batch: 1 of a batch's events not taken in: the receiver answers 207
	// to an alarm: 1
	// Close: 0 <nil>
	// 4 requests
}
