// Package probe reads the requests for servers under load, from flags as curl has them or from a TOML file with several.
// It asks servers before a load, and compares their answers.
package probe

import (
	"bytes"
	"context"
	"crypto/tls"
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

// How often a server that does not answer yet is asked, and how long one answer may take.
const (
	askedEvery = 20 * time.Millisecond
	longestAsk = 10 * time.Second
)

// A refusal is of an answer that came.
type refusal struct{ error }

// Wrong is an error of an answer that came.
func Wrong(format string, args ...any) error { return refusal{fmt.Errorf(format, args...)} }

// Answered tells whether an error of Ask is of an answer that came.
func Answered(err error) bool { return errors.As(err, new(refusal)) }

// Ask waits until a server answers the first request of a target as is expected, and then asks it for
// each request so many times in all. A server that takes no connections yet, or answers that it is not
// available (502 to 504), is asked again until the time is over.
func Ask(ctx context.Context, t load.Target, within time.Duration, times int) (all []Given, err error) {
	requests, err := t.Asked()
	if err != nil {
		return nil, err
	}
	transport, err := Transport(t)
	if err != nil {
		return nil, err
	}
	defer transport.CloseIdleConnections()
	for i, r := range requests {
		for range times {
			for began := time.Now(); ; {
				g, err := get(ctx, transport, t, i, r)
				if err == nil {
					all = append(all, g)
					break
				}
				starts := g.Status >= http.StatusBadGateway && g.Status <= http.StatusGatewayTimeout ||
					errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET)
				if ctx.Err() != nil {
					return nil, context.Cause(ctx)
				}
				if len(all) > 0 || !starts || time.Since(began) > within {
					return nil, err
				}
				time.Sleep(askedEvery)
			}
		}
	}
	return all, nil
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

// get asks for one of the requests, as the load does.
func get(ctx context.Context, transport *http.Transport, t load.Target, of int, r load.Request) (g Given, err error) {
	what := r.Label()
	within, cancel := context.WithTimeout(ctx, longestAsk)
	defer cancel()
	scheme, rest, _ := strings.Cut(t.URL, "://")
	host, _, _ := strings.Cut(rest, "/")
	req, err := http.NewRequestWithContext(within, r.Method, scheme+"://"+host+r.Path, bytes.NewReader(r.Body))
	if err != nil {
		return g, err
	}
	req.Header["User-Agent"] = nil // the load sends none of its own
	for _, h := range r.Headers {
		if req.Header.Add(h[0], h[1]); strings.EqualFold(h[0], "host") {
			req.Host = h[1]
		}
	}
	a, err := transport.RoundTrip(req)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return g, fmt.Errorf("no answer to %s within %v", what, longestAsk)
	case err != nil:
		return g, fmt.Errorf("no answer to %s: %w", what, err)
	}
	defer a.Body.Close()
	g.Status = a.StatusCode
	switch {
	case (a.ProtoMajor == 2) != (t.Protocol == load.HTTP2):
		return g, fmt.Errorf("it answers in %s", a.Proto)
	case !r.Expects(a.StatusCode) && len(r.Status) == 0:
		return g, Wrong("it answers %s with status %d, and only 2xx can be measured; give another path with --url, "+
			"or what is right with --status", what, a.StatusCode)
	case !r.Expects(a.StatusCode):
		return g, Wrong("it answers %s with status %d, and expected was %s", what, a.StatusCode,
			strings.Trim(strings.ReplaceAll(fmt.Sprint(r.Status), " ", " or "), "[]"))
	}
	if g, err = take(a, of, r); err != nil {
		return g, Wrong("its answer to %s is not as expected: %w", what, err)
	}
	return g, nil
}

// Instead says what a server speaks in place of the target's protocol, after an error or none, and
// which flag says so; empty if unknown.
func Instead(ctx context.Context, t load.Target, failed error) string {
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](failed); ok {
		return fmt.Sprintf("its certificate is not trusted (%v); name what has signed it by --cacert FILE, or take any by "+
			"--insecure", bad.Err)
	}
	scheme, rest, _ := strings.Cut(t.URL, "://")
	host, _, _ := strings.Cut(rest, "/")
	protocols := []string{t.Protocol, load.HTTP2}
	if t.Protocol == load.HTTP2 {
		protocols[1] = ""
	}
	// TLS first: in plain text its servers tend to answer as well, that they want it.
	for n, with := range []string{"https", "https", "http", "http"} {
		// It gets a request that changes nothing, and nothing that a certificate would have to protect.
		is := load.Target{URL: with + "://" + host + "/", Unix: t.Unix, Protocol: protocols[n%2], Insecure: true}
		if with == scheme && is.Protocol == t.Protocol {
			continue
		}
		within, cancel := context.WithTimeout(ctx, time.Second)
		_, err := Ask(within, is, 0, 1)
		cancel()
		if err != nil && !Answered(err) {
			continue
		}
		return fmt.Sprintf("it speaks %s there, and was asked in %s; ask with %s:// (of a command: %s) and %s --http2",
			Spoken(is), Spoken(t), with, map[string]string{"https": "--tls", "http": "no --tls"}[with],
			map[string]string{load.HTTP2: "with", "": "without"}[is.Protocol])
	}
	if scheme == "https" && errors.Is(failed, io.EOF) {
		return "it ended the TLS handshake; it may want another name, by --sni, or a certificate of its client, by --cert and --key"
	}
	return ""
}
