package contest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/load"
)

// answersEach is how many answers of each server are compared before the first block.
const answersEach = 8

// mostBody limits a body in bytes.
const mostBody = 64 << 20

// answerWithin bounds the wait for one answer.
const answerWithin = 10 * time.Second

// An Answer is what is compared of one answer. The rest of its head (date, name of
// the server) may differ.
type Answer struct {
	Of       int // which of the requests
	Status   int
	Type     string // Content-Type
	Encoding string // Content-Encoding
	Body     []byte // nil: the request's check says that it is right
}

// asked are the requests, if only one it is that of the path.
func (o Options) asked() []load.Request {
	if len(o.Requests) > 0 {
		return o.Requests
	}
	return []load.Request{{Method: http.MethodGet, Path: o.Path}}
}

// fetch asks for each request a few times on one connection, as the load does.
func (o Options) fetch(ctx context.Context, name, addr string) (out []Answer, err error) {
	t := o.target(name, addr, nil)
	var conn *http.ClientConn
	for i, request := range o.asked() {
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
			a, err := o.one(ctx, conn, t, request, i+n > 0)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			a.Of = i
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
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, err
	}
	req, err := probe.Request(ctx, u.Scheme+"://"+u.Host, asked)
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
func (o Options) one(ctx context.Context, conn *http.ClientConn, t load.Target, asked load.Request, again bool) (Answer, error) {
	what := asked.Method + " " + asked.Path
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	a, err := ask(within, conn, t, asked)
	switch {
	case err == nil:
	case errors.Is(err, context.DeadlineExceeded):
		return Answer{}, fmt.Errorf("no answer to %s within %v", what, answerWithin)
	case again && !o.Close:
		return Answer{}, fmt.Errorf("it closed the connection after its first answer; %s", kept)
	default:
		if other := Instead(ctx, t, err); other != "" {
			return Answer{}, errors.New(other)
		}
		return Answer{}, fmt.Errorf("no HTTP answer to %s: %v", what, err)
	}
	defer a.Body.Close()
	if a.StatusCode == http.StatusBadRequest && !again { // as of a server that expected TLS
		if other := Instead(ctx, t, nil); other != "" {
			return Answer{}, errors.New(other)
		}
	}
	switch {
	case !asked.Expects(a.StatusCode) && len(asked.Status) == 0:
		return Answer{}, fmt.Errorf("it answers %s with status %d, and only 2xx can be measured; give another path "+
			"with --url, or what is right with --status", what, a.StatusCode)
	case !asked.Expects(a.StatusCode):
		return Answer{}, fmt.Errorf("it answers %s with status %d, and expected was %s", what, a.StatusCode,
			strings.Trim(strings.ReplaceAll(fmt.Sprint(asked.Status), " ", " or "), "[]"))
	case a.Close && !o.Close:
		return Answer{}, fmt.Errorf("it closes the connection with each answer (%s); %s", a.Proto, kept)
	}
	body, err := io.ReadAll(io.LimitReader(a.Body, mostBody+1))
	if err == nil {
		if err = asked.Check.HeadFault(a.Header.Values); err == nil && asked.Check.OfBody() {
			err = asked.Check.BodyFault(body)
		}
		if err != nil {
			return Answer{}, fmt.Errorf("its answer to %s is not as expected: %w", what, err)
		}
	}
	switch {
	case err != nil:
		return Answer{}, fmt.Errorf("its answer to %s breaks off after %d bytes of body: %v", what, len(body), err)
	case len(body) > mostBody:
		return Answer{}, fmt.Errorf("its answer to %s has more than %d MB", what, mostBody>>20)
	case asked.Check.OfBody():
		body = nil
	}
	return Answer{Status: a.StatusCode, Type: a.Header.Get("Content-Type"), Encoding: a.Header.Get("Content-Encoding"),
		Body: body}, nil
}

// kept says what the load needs of a connection.
const kept = "the load keeps its connections open, so let it speak HTTP/1.1 with keep-alive (Python's http.server: " +
	"--protocol HTTP/1.1), or give --no-keepalive"

// varies tells whether a server's answers to one request differ among themselves.
func varies(as []Answer) bool {
	for _, a := range as {
		first := slices.IndexFunc(as, func(f Answer) bool { return f.Of == a.Of })
		if !bytes.Equal(a.Body, as[first].Body) {
			return true
		}
	}
	return false
}

// differ says how the answers of a server differ from those of the first, to any of the
// requests; empty if they do not.
func (o Options) differ(base, other Server, a, b []Answer) string {
	for i, r := range o.asked() {
		of := func(as []Answer) (its []Answer) {
			for _, one := range as {
				if one.Of == i {
					its = append(its, one)
				}
			}
			return its
		}
		if why := differ(base, other, of(a), of(b)); why != "" && len(o.Requests) > 1 {
			return fmt.Sprintf("to %s: %s", r.Label(), why)
		} else if why != "" {
			return why
		}
	}
	return ""
}

// differ says how answers to one request differ. Bodies that change from one request to the next are compared one by
// one, since two fresh servers may go through the same ones, and else by their
// lengths.
func differ(base, other Server, a, b []Answer) string {
	x, y := a[0], b[0]
	says := func(what string, of, first any) string {
		return fmt.Sprintf("%s answers with %s %v, %s with %v", other.Name, what, of, base.Name, first)
	}
	switch {
	case x.Status != y.Status:
		return says("status", y.Status, x.Status)
	case x.Type != y.Type:
		return says("Content-Type", shown(y.Type), shown(x.Type))
	case x.Encoding != y.Encoding:
		return says("Content-Encoding", shown(y.Encoding), shown(x.Encoding))
	}
	all := true
	for i := range a {
		all = all && bytes.Equal(a[i].Body, b[i].Body)
	}
	low, high := span(a)
	least, most := span(b)
	switch {
	case all:
		return ""
	case varies(a) && varies(b):
		if least > high || most < low {
			return says("bodies of", lengths(least, most), lengths(low, high))
		}
		return ""
	case varies(a) || varies(b):
		who := base.Name
		if varies(b) {
			who = other.Name
		}
		return fmt.Sprintf("the answers of %s change from one request to the next, and the other's do not", who)
	case len(x.Body) != len(y.Body):
		return says("a body of", lengths(least, most), lengths(low, high)) +
			fmt.Sprintf("; the first byte that differs is %d", first(x.Body, y.Body))
	}
	at := first(x.Body, y.Body)
	return fmt.Sprintf("the bodies of %s and %s, %d bytes each, differ from byte %d on (%q, %q)", other.Name, base.Name,
		len(x.Body), at, y.Body[at-1:at], x.Body[at-1:at])
}

func shown(v string) string {
	if v == "" {
		return "none"
	}
	return strconv.Quote(strict.Visible(v, 60))
}

// first is the first byte that differs, counted from 1.
func first(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i + 1
		}
	}
	return min(len(a), len(b)) + 1
}

func span(as []Answer) (least, most int) {
	least = len(as[0].Body)
	for _, a := range as {
		least, most = min(least, len(a.Body)), max(most, len(a.Body))
	}
	return least, most
}

func lengths(least, most int) string {
	if least == most {
		return fmt.Sprintf("%d bytes", least)
	}
	return strings.Join([]string{strconv.Itoa(least), "to", strconv.Itoa(most), "bytes"}, " ")
}
