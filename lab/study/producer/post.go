package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/study/event"
)

const (
	postTimeout = 30 * time.Second
	// idleConns is more than a pool of a hundred needs. With Go's default of two, most
	// batches would open a new connection.
	idleConns = 256
)

// A poster sends batches to a sink.
type poster[E any, P event.Event[E]] struct {
	sink   string
	size   int
	client *http.Client
}

func newPoster[E any, P event.Event[E]](sink string) *poster[E, P] {
	return &poster[E, P]{sink: sink, size: len(P(new(E)).Raw()), client: &http.Client{
		Timeout:   postTimeout,
		Transport: &http.Transport{MaxIdleConnsPerHost: idleConns, DisableCompression: true},
	}}
}

// post sends one batch. Any answer except 2xx is an error.
func (p *poster[E, P]) post(ctx context.Context, events []E) error {
	closed := make(chan struct{})
	b := &body[E, P]{rest: events, closed: closed}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.sink, b)
	if err != nil {
		return err // the sink's URL is wrong: nothing reads the body
	}
	req.ContentLength = int64(len(events) * p.size)
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set(event.SizeHeader, strconv.Itoa(p.size))
	resp, err := p.client.Do(req)
	// The transport can read the body for longer than Do takes, and the variant uses the
	// events again when this returns.
	defer func() { <-closed }()
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s answered %s", p.sink, resp.Status)
	}
	return nil
}

// A body is a batch's events, one after the other. They are copied once, from the batch
// to where the transport writes from.
type body[E any, P event.Event[E]] struct {
	mu     sync.Mutex // held while reading: once Close has returned, nothing reads any more
	rest   []E
	read   int           // bytes already read of the first of the rest
	closed chan struct{} // nil once it is closed
}

func (b *body[E, P]) Read(to []byte) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.rest) > 0 && n < len(to) {
		raw := P(&b.rest[0]).Raw()
		m := copy(to[n:], raw[b.read:])
		n += m
		if b.read += m; b.read == len(raw) {
			b.rest, b.read = b.rest[1:], 0
		}
	}
	if n == 0 && len(to) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Close is called by the transport when it reads no more. It may be called twice.
func (b *body[E, P]) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed != nil {
		close(b.closed)
		b.closed, b.rest = nil, nil
	}
	return nil
}
