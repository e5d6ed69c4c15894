package contest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/load"
)

// answersEach is how many answers of each server are compared before the first block.
const answersEach = 8

// answerWithin bounds the wait for one answer.
const answerWithin = 10 * time.Second

// asked are the requests, if only one it is that of the path.
func (o Options) asked() []load.Request {
	if len(o.Requests) > 0 {
		return o.Requests
	}
	return []load.Request{{Method: http.MethodGet, Path: o.Path}}
}

// fetch asks for each request a few times on one connection, as the load does.
func (o Options) fetch(ctx context.Context, name, addr string) (out []probe.Given, err error) {
	t := o.target(Server{Name: name}, addr)
	var conn *http.ClientConn
	for i := range o.asked() {
		for n := range answersEach {
			if conn == nil || o.Close {
				if conn, err = connect(ctx, t); err != nil {
					if other := Instead(ctx, t, err); other != "" {
						return nil, fmt.Errorf("%s: %s", name, other)
					}
					return nil, fmt.Errorf("%s: no connection to %s (%w); is it running there?", name, addr, plain(err))
				}
				defer conn.Close()
			}
			a, err := o.one(ctx, conn, t, i, i+n > 0)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			out = append(out, a)
		}
	}
	return out, nil
}

// connect opens one connection to a target, as the load does.
func connect(ctx context.Context, t load.Target) (*http.ClientConn, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, err
	}
	transport, err := probe.Transport(t)
	if err != nil {
		return nil, err
	}
	return transport.NewClientConn(ctx, u.Scheme, net.JoinHostPort(u.Hostname(), u.Port()))
}

// ask asks a target on a connection.
func ask(ctx context.Context, conn *http.ClientConn, t load.Target, asked load.Request) (*http.Response, error) {
	req, err := probe.Request(ctx, t, asked)
	if err != nil {
		return nil, err
	}
	a, err := conn.RoundTrip(req)
	if err == nil && (a.ProtoMajor == 2) != (t.Protocol == load.HTTP2) {
		a.Body.Close()
		err = fmt.Errorf("it answers in %s", a.Proto)
	}
	return a, err
}

// one makes one request.
func (o Options) one(ctx context.Context, conn *http.ClientConn, t load.Target, of int, again bool) (g probe.Given,
	err error) {
	asked := o.asked()[of]
	what := asked.Method + " " + asked.Path
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	a, err := ask(within, conn, t, asked)
	switch {
	case err == nil:
	case errors.Is(err, context.DeadlineExceeded):
		return g, fmt.Errorf("no answer to %s within %v", what, answerWithin)
	case again && !o.Close:
		return g, fmt.Errorf("it closed the connection after its first answer; %s", kept)
	default:
		if other := Instead(ctx, t, err); other != "" {
			return g, errors.New(other)
		}
		return g, fmt.Errorf("no HTTP answer to %s: %v", what, err)
	}
	defer a.Body.Close()
	if a.StatusCode == http.StatusBadRequest && !again { // as of a server that expected TLS
		if other := Instead(ctx, t, nil); other != "" {
			return g, errors.New(other)
		}
	}
	switch {
	case !asked.Expects(a.StatusCode) && len(asked.Status) == 0:
		return g, fmt.Errorf("it answers %s with status %d, and only 2xx can be measured; give another path "+
			"with --url, or what is right with --status", what, a.StatusCode)
	case !asked.Expects(a.StatusCode):
		return g, fmt.Errorf("it answers %s with status %d, and expected was %s", what, a.StatusCode,
			strings.Trim(strings.ReplaceAll(fmt.Sprint(asked.Status), " ", " or "), "[]"))
	case a.Close && !o.Close:
		return g, fmt.Errorf("it closes the connection with each answer (%s); %s", a.Proto, kept)
	}
	if g, err = probe.Take(a, of, asked); err != nil {
		err = fmt.Errorf("its answer to %s is not as expected: %w", what, err)
	}
	return g, err
}

// kept says what the load needs of a connection.
const kept = "the load keeps its connections open, so let it speak HTTP/1.1 with keep-alive (Python's http.server: " +
	"--protocol HTTP/1.1), or give --no-keepalive"

// differ says how the answers of a server differ from those of the first, to any of the
// requests; empty if they do not.
func (o Options) differ(base, other Server, a, b []probe.Given) string {
	for i, r := range o.asked() {
		why := differ(base, other, probe.To(i, a), probe.To(i, b))
		if why != "" && len(o.Requests) > 1 {
			why = fmt.Sprintf("to %s: %s", r.Label(), why)
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// differ says how answers to one request differ. Of bodies that change from one request to the next
// only the lengths are compared.
func differ(base, other Server, a, b []probe.Given) string {
	x, y := a[0].Body, b[0].Body
	says := func(what, of, first string) string {
		return fmt.Sprintf("%s answers with %s %s, %s with %s", other.Name, what, of, base.Name, first)
	}
	low, high := span(a)
	least, most := span(b)
	switch d := probe.Differ(a, b); {
	case d.Field != "" && d.Field != "length" && d.Field != "body":
		return says(d.Field, d.Ours, d.Theirs)
	case probe.Varies(a) && probe.Varies(b) && (least > high || most < low):
		return says("bodies of", lengths(least, most), lengths(low, high))
	case probe.Varies(a) && probe.Varies(b), d.Field == "" && !probe.Varies(a):
		return ""
	case probe.Varies(a):
		return changes(base)
	case probe.Varies(b):
		return changes(other)
	case len(x) != len(y):
		return says("a body of", lengths(least, most), lengths(low, high)) +
			fmt.Sprintf("; the first byte that differs is %d", load.FirstDifference(x, y))
	}
	at := load.FirstDifference(x, y)
	return fmt.Sprintf("the bodies of %s and %s, %d bytes each, differ from byte %d on (%q, %q)", other.Name, base.Name,
		len(x), at, y[at-1:at], x[at-1:at])
}

func changes(s Server) string {
	return fmt.Sprintf("the answers of %s change from one request to the next, and the other's do not", s.Name)
}

func span(as []probe.Given) (least, most int) {
	all := strict.Called(as, func(a probe.Given) int { return a.Length })
	return slices.Min(all), slices.Max(all)
}

func lengths(least, most int) string {
	if least == most {
		return fmt.Sprintf("%d bytes", least)
	}
	return fmt.Sprintf("%d to %d bytes", least, most)
}
