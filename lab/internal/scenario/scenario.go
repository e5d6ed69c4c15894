// Package scenario reads what is asked of the servers that are loaded or compared: a file in
// TOML, as content/compare.md has one, or flags as curl has them.
//
// Files beside it are named from where it lies. A fault is one line, with the file and the request.
package scenario

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/load"
)

// A Scenario is what is asked.
type Scenario struct {
	Requests []load.Request
	Close    bool // a new connection for each request
}

// file is a scenario as it is written.
type file struct {
	KeepAlive *bool     `toml:"keep_alive"`
	Request   []request `toml:"request"`
}

type request struct {
	Name     string                `toml:"name"`
	Method   string                `toml:"method"`
	Path     string                `toml:"path"`
	Headers  map[strict.Own]string `toml:"headers"`
	Body     *string               `toml:"body"`
	BodyFile string                `toml:"body_file"`
	Weight   *float64              `toml:"weight"`
	Status   []int                 `toml:"status"`
	Check    *check                `toml:"check"`
}

type check struct {
	Headers  map[strict.Own]string `toml:"headers"`
	Body     *string               `toml:"body"`
	BodyFile string                `toml:"body_file"`
	Contains string                `toml:"contains"`
	JSON     map[strict.Own]any    `toml:"json"`
}

// mostFile is the limit in bytes of the file itself; bodies may lie in files of their own.
const mostFile = 1 << 20

// Read reads a scenario's file.
func Read(path string) (Scenario, error) {
	data, err := strict.ReadUpTo(path, mostFile)
	if err != nil {
		return Scenario{}, fmt.Errorf("the scenario cannot be read: %w", err)
	}
	s, err := parse(data, filepath.Dir(path))
	if err != nil {
		return Scenario{}, fmt.Errorf("%s, %w", path, err)
	}
	return s, nil
}

func parse(data []byte, dir string) (s Scenario, err error) {
	var f file
	if err := strict.DecodeTOML(data, &f); err != nil {
		return s, err
	}
	if len(f.Request) == 0 {
		return s, errors.New("line 1: it asks for nothing; add a table [[request]] with a path")
	}
	s.Close = f.KeepAlive != nil && !*f.KeepAlive
	for i, one := range f.Request {
		r, err := one.made(dir)
		if err != nil {
			return s, fmt.Errorf("request %d: %w", i+1, err)
		}
		s.Requests = append(s.Requests, r)
	}
	return s, (&load.Target{Requests: s.Requests}).CheckRequests()
}

// made is the request as it is asked.
func (r *request) made(dir string) (out load.Request, err error) {
	out = load.Request{Name: r.Name, Method: r.Method, Path: r.Path, Headers: pairs(r.Headers), Status: r.Status}
	if out.Body, err = content(dir, r.Body, r.BodyFile); err != nil {
		return out, err
	}
	if r.Weight != nil {
		if out.Weight = *r.Weight; out.Weight == 0 {
			return out, errors.New("weight is 0; leave out the request")
		}
	}
	if c := r.Check; c != nil {
		out.Check = &load.Check{Headers: pairs(c.Headers), Contains: c.Contains}
		if out.Check.Body, err = content(dir, c.Body, c.BodyFile); err != nil {
			return out, fmt.Errorf("check: %w", err)
		}
		for _, pointer := range slices.Sorted(maps.Keys(c.JSON)) {
			value, err := json.Marshal(c.JSON[pointer])
			if err != nil {
				return out, fmt.Errorf("check: json: %s: a value that JSON has not", pointer)
			}
			out.Check.JSON = append(out.Check.JSON, load.Field{Pointer: string(pointer), Value: string(value)})
		}
	}
	return finished(out)
}

// finished is a request that can be asked.
func finished(r load.Request) (load.Request, error) {
	if r.Method == "" {
		if r.Method = "GET"; r.Body != nil {
			r.Method = "POST"
		}
	}
	return r, r.Valid()
}

// content is a text, or what a file holds; nil if neither is given.
func content(dir string, text *string, path string) ([]byte, error) {
	switch {
	case text != nil && path != "":
		return nil, errors.New("body and body_file are both given; leave out one")
	case text != nil:
		return []byte(*text), nil
	case path == "":
		return nil, nil
	case !filepath.IsAbs(path):
		path = filepath.Join(dir, path)
	}
	body, err := strict.ReadUpTo(path, load.MaxBodies)
	if err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	return append([]byte{}, body...), nil
}

// flagged is the content that a flag gives: a text, or @ and the file that holds it.
func flagged(text string) ([]byte, error) {
	if path, ok := strings.CutPrefix(text, "@"); ok {
		return content("", nil, path)
	}
	return []byte(text), nil
}

func pairs(m map[strict.Own]string) (all [][2]string) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		all = append(all, [2]string{string(name), m[name]})
	}
	return all
}

// An Asking are the flags that say what is asked and how, as curl has them, beside those for the path
// and the body.
type Asking struct {
	Method      string   `name:"method" short:"X" placeholder:"METHOD" help:"Method of the request (default GET; POST with --data)."`
	Header      []string `name:"header" short:"H" sep:"none" placeholder:"'NAME: VALUE'" help:"Header of the request; as often as needed."`
	Status      []int    `name:"status" placeholder:"N,..." help:"Statuses that are expected (default: any 2xx)."`
	Expect      []string `more:"" name:"expect" sep:"none" placeholder:"WHAT" help:"What each answer must have: header:NAME=VALUE, contains=TEXT, body=TEXT, body=@FILE or json:/POINTER=VALUE; a header or a pointer alone must be there. May be given several times."`
	Scenario    string   `more:"" name:"scenario" placeholder:"FILE" help:"TOML file with several requests, in place of the flags that say what is asked."`
	NoKeepalive bool     `name:"no-keepalive" help:"Open a new connection for each request."`
	HTTP2       bool     `name:"http2" help:"Ask in HTTP/2; --pipelining is then the streams on each connection."`
	Insecure    bool     `name:"insecure" short:"k" help:"Over TLS, take any certificate."`
	CACert      string   `more:"" name:"cacert" placeholder:"FILE" help:"Over TLS, certificates in PEM, one of which has signed the server's (default: those that this machine trusts)."`
	Cert        string   `more:"" name:"cert" placeholder:"FILE" help:"Over TLS, certificate of this client, in PEM."`
	Key         string   `more:"" name:"key" placeholder:"FILE" help:"Its key, in PEM."`
	SNI         string   `more:"" name:"sni" placeholder:"NAME" help:"Over TLS, the name that the server is greeted with (default: that in the Host header, or the address)."`
}

// Asked is the scenario that the flags ask for. url is the path, empty if none was given, and
// data the body: a text, or @ and the file that holds it; nil without one.
func (a Asking) Asked(url string, data *string) (s Scenario, err error) {
	if a.Scenario != "" {
		if url+a.Method != "" || data != nil || len(a.Header)+len(a.Status)+len(a.Expect) > 0 {
			return s, errors.New("--scenario says what is asked; leave out the path, -X, -H, --data, --status and --expect")
		}
		s, err = Read(a.Scenario)
		s.Close = s.Close || a.NoKeepalive
		return s, err
	}
	if url == "" {
		return s, errors.New("--url is missing: the path that is asked of each server, as /read; or give --scenario FILE")
	}
	r := load.Request{Method: a.Method, Path: url, Status: a.Status}
	for _, h := range a.Header {
		name, value, ok := strings.Cut(h, ":")
		if !ok {
			return s, fmt.Errorf("--header %q: write 'NAME: VALUE'", strict.Visible(h, 60))
		}
		r.Headers = append(r.Headers, [2]string{name, strings.TrimSpace(value)})
	}
	if data != nil {
		if r.Body, err = flagged(*data); err != nil {
			return s, fmt.Errorf("--data: %w", err)
		}
		if !slices.ContainsFunc(r.Headers, func(h [2]string) bool { return strings.EqualFold(h[0], "content-type") }) {
			r.Headers = append(r.Headers, [2]string{"Content-Type", "application/x-www-form-urlencoded"})
		}
	}
	for _, e := range a.Expect {
		if err := expect(&r, e); err != nil {
			return s, err
		}
	}
	r, err = finished(r)
	return Scenario{Requests: []load.Request{r}, Close: a.NoKeepalive}, err
}

// IsPlain tells whether only a path is asked: a lone GET with nothing else.
func (s Scenario) IsPlain() bool {
	if len(s.Requests) != 1 {
		return false
	}
	r := s.Requests[0]
	return r.Method == "GET" && len(r.Headers)+len(r.Status) == 0 && r.Body == nil && r.Check == nil && r.Name == ""
}

// expect adds what --expect says to the request's check.
func expect(r *load.Request, text string) error {
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
		body, err := flagged(value)
		if err != nil {
			return fmt.Errorf("--expect body: %w", err)
		}
		c.Body = body
	default:
		return fmt.Errorf("--expect %q: write header:NAME=VALUE, contains=TEXT, body=TEXT, body=@FILE or json:/POINTER=VALUE",
			strict.Visible(text, 60))
	}
	return nil
}
