// Package probe reads the requests for servers under load, from flags as curl has them or from a TOML file with several.
// It asks servers before a load, and compares their answers.
package probe

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/strict"
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

// Requests are the requests of one load.
type Requests []load.Request

// IsPlain tells whether only a path is asked: a lone GET with nothing else.
func (all Requests) IsPlain() bool {
	r := all[0]
	return len(all) == 1 && r.Method == "GET" && len(r.Headers)+len(r.Status) == 0 && r.Body == nil && r.Check == nil && r.Name == ""
}

// A Request is one that is asked, as flags say it, or a table of a file.
type Request struct {
	Name   string   `toml:"name" kong:"-"`
	Path   string   `toml:"path" kong:"-"`
	Weight *float64 `toml:"weight" kong:"-"`
	Data   *string  `toml:"data" name:"data" placeholder:"TEXT|@FILE" help:"Body of the request."`
	Method string   `toml:"method" more:"" name:"method" short:"X" placeholder:"METHOD" help:"Method of the request (default GET; POST with --data)."`
	Header []string `toml:"header" name:"header" short:"H" sep:"none" placeholder:"'NAME: VALUE'" help:"Header of the request; may be repeated."`
	Status []int    `toml:"status" more:"" name:"status" placeholder:"N,..." help:"Statuses that are expected (default: any 2xx)."`
	Expect []string `toml:"expect" more:"" name:"expect" sep:"none" placeholder:"WHAT" help:"What each answer must have: header:NAME=VALUE, contains=TEXT, body=TEXT, body=@FILE or json:/POINTER=VALUE; a header or a pointer alone must be there. Repeat it for several."`
}

// Asked are the requests that the flags ask for. path is empty if none was given.
func (a Asking) Asked(path string) (Requests, error) {
	switch {
	case a.Scenario != "" && (path+a.Method != "" || a.Data != nil || len(a.Header)+len(a.Status)+len(a.Expect) > 0):
		return nil, errors.New("--scenario says what is asked; leave out the path, -X, -H, --data, --status and --expect")
	case a.Scenario != "":
		return read(a.Scenario)
	case path == "":
		return nil, errors.New("--url is missing: the path that is asked of each server, as /read; or give --scenario FILE")
	}
	a.Path = path
	r, err := a.asked("")
	return Requests{r}, err
}

// mostFile is the limit in bytes of a file of requests, certificates or a key; bodies may lie in files of their own.
const mostFile = 1 << 20

// read reads a scenario's file. Names of files start from its directory.
func read(path string) (all Requests, err error) {
	var f struct {
		Request []Request `toml:"request"`
	}
	data, err := strict.ReadUpTo(path, mostFile)
	if err != nil {
		return nil, err
	}
	if err = strict.DecodeTOML(data, &f); err == nil && len(f.Request) == 0 {
		err = errors.New("line 1: it asks for nothing; add a table [[request]] with a path")
	}
	for i, one := range f.Request {
		r, wrong := one.asked(filepath.Dir(path))
		if wrong != nil && err == nil {
			err = fmt.Errorf("request %d: %w", i+1, wrong)
		}
		all = append(all, r)
	}
	if err == nil {
		err = (&load.Target{Requests: all}).CheckRequests()
	}
	if err != nil {
		return nil, fmt.Errorf("%s, %w", path, err)
	}
	return all, nil
}

// asked is the request as it is asked; dir is where its files lie.
func (r Request) asked(dir string) (out load.Request, err error) {
	out = load.Request{Name: r.Name, Method: cmp.Or(r.Method, "GET"), Path: r.Path, Status: r.Status}
	if r.Weight != nil {
		if out.Weight = *r.Weight; out.Weight == 0 {
			return out, errors.New("weight is 0; leave out the request")
		}
	}
	for _, h := range r.Header {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return out, fmt.Errorf("header %q: write 'NAME: VALUE'", strict.Visible(h, 60))
		}
		out.Headers = append(out.Headers, [2]string{name, strings.TrimSpace(value)})
	}
	if r.Data != nil {
		if out.Body, err = content(dir, *r.Data); err != nil {
			return out, fmt.Errorf("data: %w", err)
		}
		out.Method = cmp.Or(r.Method, "POST")
		if !slices.ContainsFunc(out.Headers, func(h [2]string) bool { return strings.EqualFold(h[0], "content-type") }) {
			out.Headers = append(out.Headers, [2]string{"Content-Type", "application/x-www-form-urlencoded"})
		}
	}
	for _, text := range r.Expect {
		if err := expect(&out, dir, text); err != nil {
			return out, err
		}
	}
	return out, out.Valid()
}

// content is a text, or with @ what a file holds.
func content(dir, text string) ([]byte, error) {
	path, named := strings.CutPrefix(text, "@")
	if !named {
		return []byte(text), nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	body, err := strict.ReadUpTo(path, load.MaxBodies)
	return append([]byte{}, body...), err // not nil of an empty file
}

// expect adds to a request's check what its answers must have.
func expect(r *load.Request, dir, text string) (err error) {
	if r.Check == nil {
		r.Check = &load.Check{}
	}
	c := r.Check
	kind, value, valued := strings.Cut(text, "=")
	kind, name, named := strings.Cut(kind, ":")
	switch {
	case kind == "header" && named:
		c.Headers = append(c.Headers, [2]string{name, value})
	case kind == "json" && named:
		if valued && !json.Valid([]byte(value)) { // a text without its quotes, as a shell leaves it
			quoted, _ := json.Marshal(value)
			value = string(quoted)
		}
		c.JSON = append(c.JSON, load.Field{Pointer: name, Value: value})
	case kind == "contains" && valued && value != "":
		c.Contains = value
	case kind == "body" && valued:
		if c.Body, err = content(dir, value); err != nil {
			return fmt.Errorf("expect body: %w", err)
		}
	default:
		return fmt.Errorf("expect %q: write header:NAME=VALUE, contains=TEXT, body=TEXT, body=@FILE or json:/POINTER=VALUE",
			strict.Visible(text, 60))
	}
	return nil
}

// An Asking are the flags that say what is asked and how, as curl has them, beside that for the path.
type Asking struct {
	Request
	Scenario    string `more:"" name:"scenario" placeholder:"FILE" help:"TOML file with several requests, in place of the flags that say what is asked."`
	NoKeepalive bool   `name:"no-keepalive" help:"Open a new connection for each request."`
	HTTP2       bool   `more:"" name:"http2" help:"Ask in HTTP/2; --pipelining is then the streams on each connection."`
	Insecure    bool   `more:"" name:"insecure" short:"k" help:"Over TLS, take any certificate."`
	CACert      string `more:"" name:"cacert" placeholder:"FILE" help:"Over TLS, certificates in PEM, one of which has signed the server's (default: those that this machine trusts)."`
	Cert        string `more:"" name:"cert" placeholder:"FILE" help:"Over TLS, certificate of this client, in PEM."`
	Key         string `more:"" name:"key" placeholder:"FILE" help:"Its key, in PEM."`
	SNI         string `more:"" name:"sni" placeholder:"NAME" help:"Over TLS, the name that the server is greeted with (default: that in the Host header, or the address)."`
}

// Way is a target that is spoken to as the flags say: what it has beside its address and its requests. Its URL has the
// scheme alone.
func (a Asking) Way(secure bool) (t load.Target, err error) {
	t = load.Target{URL: "http://", Close: a.NoKeepalive, Insecure: a.Insecure, SNI: a.SNI}
	switch {
	case a.HTTP2 && a.NoKeepalive:
		return t, errors.New("--http2 keeps its connections open; leave it out, or --no-keepalive")
	case !secure && (a.Insecure || a.CACert+a.Cert+a.Key+a.SNI != ""):
		return t, errors.New("--insecure, --cacert, --cert, --key and --sni are about TLS; say that the server speaks it, " +
			"by https:// or, of a command, by --tls")
	}
	if secure {
		t.URL = "https://"
	}
	if a.HTTP2 {
		t.Protocol = load.HTTP2
	}
	for _, f := range []struct {
		path string
		to   *string
	}{{a.CACert, &t.CA}, {a.Cert, &t.Cert}, {a.Key, &t.Key}} {
		if f.path != "" {
			text, err := strict.ReadUpTo(f.path, mostFile)
			if err != nil {
				return t, err
			}
			*f.to = string(text)
		}
	}
	return t, nil
}

// Plain is the protocol by default.
const Plain = "HTTP/1.1"

// Spoken names what a target is spoken to in.
func Spoken(t load.Target) string {
	name := Plain
	if t.Protocol == load.HTTP2 {
		name = "HTTP/2"
	}
	if strings.HasPrefix(t.URL, "https:") {
		name += " over TLS"
	}
	return name
}

// Delayed is what a median latency of 40 ms and a little more hints at; empty for others. Linux delays an acknowledgement
// by 40 ms (TCP_DELACK_MIN in include/net/tcp.h).
func Delayed(p50 float64) string {
	if p50 < 0.0395 || p50 > 0.048 {
		return ""
	}
	return "answers that wait some 40 ms are often sent in two parts, the second of which waits for a delayed acknowledgement; " +
		"TCP_NODELAY in the server, or one write, ends that"
}
