package probe

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/load"
)

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
	Data   *string  `toml:"data" kong:"-"` // a text, or @ and the file that holds it
	Weight *float64 `toml:"weight" kong:"-"`
	Method string   `toml:"method" more:"" name:"method" short:"X" placeholder:"METHOD" help:"Method of the request (default GET; POST with --data)."`
	Header []string `toml:"header" name:"header" short:"H" sep:"none" placeholder:"'NAME: VALUE'" help:"Header of the request; may be repeated."`
	Status []int    `toml:"status" more:"" name:"status" placeholder:"N,..." help:"Statuses that are expected (default: any 2xx)."`
	Expect []string `toml:"expect" more:"" name:"expect" sep:"none" placeholder:"WHAT" help:"What each answer must have: header:NAME=VALUE, contains=TEXT, body=TEXT, body=@FILE or json:/POINTER=VALUE; a header or a pointer alone must be there. Repeat it for several."`
}

// Asked are the requests that the flags ask for. path is empty if none was given, and data is the body, nil without one.
func (a Asking) Asked(path string, data *string) (Requests, error) {
	switch {
	case a.Scenario != "" && (path+a.Method != "" || data != nil || len(a.Header)+len(a.Status)+len(a.Expect) > 0):
		return nil, errors.New("--scenario says what is asked; leave out the path, -X, -H, --data, --status and --expect")
	case a.Scenario != "":
		return read(a.Scenario)
	case path == "":
		return nil, errors.New("--url is missing: the path that is asked of each server, as /read; or give --scenario FILE")
	}
	a.Path, a.Data = path, data
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

// An Asking are the flags that say what is asked and how, as curl has them, beside those for the path
// and the body.
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
