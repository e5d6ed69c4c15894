package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/study/event"
)

// errNotReached is the error if nothing listens at the producer's address.
var errNotReached = errors.New("no producer is there")

const (
	askTime  = 5 * time.Second
	stopTime = 15 * time.Second // the producer drains for ten
)

// A producer is an event_producer, reached through its control.
type producer struct {
	url    string
	client http.Client
}

// ask makes one request to the control. The answer is stored in into, if that is not nil.
func (p *producer) ask(ctx context.Context, method, path string, within time.Duration, into *event.Figures) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, p.url+path, nil)
	if err != nil {
		return err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", p.url, err)
	case resp.StatusCode/100 != 2:
		said, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
		return fmt.Errorf("the producer at %s refuses %s: %s (%s)", p.url, path, said, resp.Status)
	case into != nil:
		if err := json.Unmarshal(body, into); err != nil {
			return fmt.Errorf("%s%s does not answer as a producer: %w", p.url, path, err)
		}
	}
	return nil
}

func (p *producer) start(ctx context.Context, sink string) error {
	err := p.ask(ctx, http.MethodPost, "/start?sink="+url.QueryEscape(sink), askTime, nil)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%w: nothing listens at %s", errNotReached, p.url)
	}
	return err
}

func (p *producer) figures(ctx context.Context, reset bool) (event.Figures, error) {
	var f event.Figures
	path := "/figures"
	if reset {
		path += "?reset=1"
	}
	return f, p.ask(ctx, http.MethodGet, path, askTime, &f)
}

// rate changes the rate for so long; after that the producer's own rate holds again.
func (p *producer) rate(ctx context.Context, perSecond int, lasts time.Duration) error {
	path := fmt.Sprintf("/rate?per_second=%d&for_ms=%d", perSecond, lasts.Milliseconds())
	return p.ask(ctx, http.MethodPost, path, askTime, nil)
}

// stop works even when this program is being ended.
func (p *producer) stop() (event.Figures, error) {
	var f event.Figures
	return f, p.ask(context.Background(), http.MethodPost, "/stop", stopTime, &f)
}
