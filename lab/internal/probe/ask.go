package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/load"
)

// An Asking waits until a server answers the first request of a target as is expected, and then
// asks it each of the requests a few times more. The lab calls it on the client's side of the
// wire.
type Asking struct {
	Within time.Duration // longest wait for the first answer
	Times  int           // that it is asked for each request
}

// How often a server that does not answer yet is asked, how long one that
// answers otherwise than with 2xx may go on with that, and how long one answer
// may take.
const (
	askedEvery = 20 * time.Millisecond
	otherwise  = 2 * time.Second
	longestAsk = 5 * time.Second
)

// Run reads a target, as it is in a plan of load, and prints the answers as a line of JSON. Its
// error says what is wrong with the server, or with an answer.
func (a Asking) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	var t load.Target
	if err := json.NewDecoder(in).Decode(&t); err != nil {
		return fmt.Errorf("no target: %w", err)
	}
	c, err := newAsker(t)
	if err != nil {
		return err
	}
	defer c.CloseIdleConnections()
	began := time.Now()
	var refused time.Time // first answer that was not expected
	for {
		one, err := c.get(ctx, 0)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil && c.requests[0].Expects(one.Status):
			return a.rest(ctx, c, one, out)
		case err == nil && refused.IsZero():
			refused = time.Now()
		case err == nil && time.Since(refused) > otherwise:
			return fmt.Errorf("it answers with status %d", one.Status)
		case err != nil && !errors.Is(err, syscall.ECONNREFUSED) && !errors.Is(err, syscall.ECONNRESET) &&
			!errors.Is(err, context.DeadlineExceeded) && time.Since(began) > otherwise:
			return err
		}
		if time.Since(began) > a.Within {
			if err == nil {
				err = fmt.Errorf("status %d", one.Status)
			}
			return fmt.Errorf("no answer as expected within %v (%v)", a.Within, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(askedEvery):
		}
	}
}

func (a Asking) rest(ctx context.Context, c *asker, first Given, out io.Writer) error {
	all := []Given{first}
	for i, r := range c.requests {
		for n := range a.Times {
			if i+n == 0 {
				continue // it has been given
			}
			one, err := c.get(ctx, i)
			if err == nil && !r.Expects(one.Status) {
				err = fmt.Errorf("status %d", one.Status)
			}
			if err != nil {
				return fmt.Errorf("answer %d of %d to %s: %w", n+1, a.Times, r.Label(), err)
			}
			all = append(all, one)
		}
	}
	return json.NewEncoder(out).Encode(all)
}

// An asker asks for the requests of a target.
type asker struct {
	http.Client
	load.Target
	requests []load.Request
}

func newAsker(t load.Target) (*asker, error) {
	requests, err := t.Asked()
	if err != nil {
		return nil, err
	}
	transport, err := Transport(t)
	return &asker{Target: t, requests: requests, Client: http.Client{Transport: transport, Timeout: longestAsk,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, err
}

// Transport speaks to a target as the load does.
func Transport(t load.Target) (*http.Transport, error) {
	secure, err := t.TLS()
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 1, DisableKeepAlives: t.Close,
		TLSClientConfig: secure, Protocols: new(http.Protocols)}
	switch {
	case t.Protocol != load.HTTP2:
		transport.Protocols.SetHTTP1(true)
	case strings.HasPrefix(t.URL, "https:"):
		transport.Protocols.SetHTTP2(true)
	default:
		transport.Protocols.SetUnencryptedHTTP2(true)
	}
	if t.Unix != "" {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", t.Unix)
		}
	}
	return transport, nil
}

// Request is a request to a target, as the load makes it.
func Request(ctx context.Context, t load.Target, r load.Request) (*http.Request, error) {
	scheme, rest, _ := strings.Cut(t.URL, "://")
	host, _, _ := strings.Cut(rest, "/")
	req, err := http.NewRequestWithContext(ctx, r.Method, scheme+"://"+host+r.Path, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	req.Header["User-Agent"] = nil // the load sends none of its own
	for _, h := range r.Headers {
		if req.Header.Add(h[0], h[1]); strings.EqualFold(h[0], "host") {
			req.Host = h[1]
		}
	}
	return req, nil
}

func (c *asker) get(ctx context.Context, of int) (Given, error) {
	r := c.requests[of]
	req, err := Request(ctx, c.Target, r)
	if err != nil {
		return Given{}, err
	}
	a, err := c.Do(req)
	if err != nil {
		return Given{}, errors.Unwrap(err) // without the address, which the caller names
	}
	defer a.Body.Close()
	if a.Close && r.Expects(a.StatusCode) && !c.Close {
		return Given{}, fmt.Errorf("it ends the connection after an answer (%s), and the load goes over connections that stay", a.Proto)
	}
	return Take(a, of, r)
}
