package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"github.com/line-rate/line-rate/lab/batch/study/event"
)

const (
	postTimeout = 30 * time.Second
	// idleConns is more than a pool of a hundred needs. With Go's default of two, most batches would open a new
	// connection.
	idleConns = 256
)

// raw is the bytes of events that are arrays of bytes, one after the other, and not a copy.
func raw[E any](events []E) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(events))), len(events)*int(unsafe.Sizeof(*new(E))))
}

// A poster sends batches to a sink.
type poster[E any] struct {
	url    string
	client *http.Client
}

func newPoster[E any](sink string) *poster[E] {
	return &poster[E]{"http://" + sink + "/", &http.Client{Timeout: postTimeout,
		Transport: &http.Transport{MaxIdleConnsPerHost: idleConns, DisableCompression: true}}}
}

// post sends one batch. Any answer except 2xx is an error.
func (p *poster[E]) post(ctx context.Context, events []E) error {
	closed := make(chan struct{})
	b := &body{rest: bytes.NewReader(raw(events)), closed: closed}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, b)
	if err != nil {
		return err // the sink's URL is wrong: nothing reads the body
	}
	req.ContentLength = int64(b.rest.Len())
	req.Header.Set(event.SizeHeader, strconv.Itoa(int(unsafe.Sizeof(*new(E)))))
	resp, err := p.client.Do(req)
	// The transport can read the body for longer than Do takes, and the variant uses the events again when this
	// returns.
	defer func() { <-closed }()
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s answered %s", p.url, resp.Status)
	}
	return nil
}

// A body is a batch's events. They are copied once, from the batch to where the transport writes from.
type body struct {
	mu     sync.Mutex // held while reading: once Close has returned, nothing reads
	rest   *bytes.Reader
	closed chan struct{} // nil once it is closed
}

func (b *body) Read(to []byte) (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rest.Read(to)
}

// Close is called by the transport when it reads no more. It may be called twice.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed != nil {
		close(b.closed)
		b.closed, b.rest = nil, bytes.NewReader(nil)
	}
	return nil
}
