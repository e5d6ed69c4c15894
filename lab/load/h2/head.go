package h2

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"

	"github.com/line-rate/line-rate/lab/load"
)

// A request is one of the target's, ready to be packed.
type request struct {
	fields   []hpack.HeaderField
	body     []byte
	bodiless bool        // its answer has no body, whatever its head says
	check    *load.Check // of its answer's head; nil: none
}

// prepare makes the requests of a target.
func prepare(t load.Target) ([]request, error) {
	u, err := url.Parse(t.URL)
	if err != nil {
		return nil, err
	}
	asked, err := t.Asked()
	if err != nil {
		return nil, err
	}
	var all []request
	for _, a := range asked {
		r := request{body: a.Body, bodiless: a.Method == "HEAD"}
		if a.Check != nil && len(a.Check.Headers) > 0 {
			r.check = a.Check
		}
		host, rest := u.Host, []hpack.HeaderField{}
		for _, h := range a.Headers {
			if name := strings.ToLower(h[0]); name == "host" {
				host = h[1]
			} else {
				rest = append(rest, hpack.HeaderField{Name: name, Value: h[1]})
			}
		}
		if len(a.Body) > 0 {
			rest = append(rest, hpack.HeaderField{Name: "content-length", Value: strconv.Itoa(len(a.Body))})
		}
		r.fields = append([]hpack.HeaderField{{Name: ":method", Value: a.Method}, {Name: ":scheme", Value: u.Scheme},
			{Name: ":authority", Value: host}, {Name: ":path", Value: a.Path}}, rest...)
		all = append(all, r)
	}
	return all, nil
}

// said is what a head says that is of any interest.
type said struct {
	status int
	length int64 // -1: not said
	fault  error
	whole  bool // all fields are wanted
	fields []hpack.HeaderField
}

// values are those of a header.
func (a *said) values(name string) (all []string) {
	for _, f := range a.fields {
		if strings.EqualFold(f.Name, name) {
			all = append(all, f.Value)
		}
	}
	return all
}

// field takes one field of a head.
func (s *session) field(f hpack.HeaderField) {
	a := &s.said
	if a.whole {
		a.fields = append(a.fields, f)
	}
	switch f.Name {
	case ":status":
		n, err := strconv.ParseUint(f.Value, 10, 16)
		if err != nil || len(f.Value) != 3 || n < 100 || a.status != 0 {
			a.fault = fmt.Errorf("a status of %.40q, which is none or a second one", f.Value)
		}
		a.status = int(n)
	case "content-length":
		n, err := strconv.ParseUint(f.Value, 10, 62)
		if err != nil || a.length >= 0 && a.length != int64(n) {
			a.fault = fmt.Errorf("content-length %.40q, which is none or a second one", f.Value)
		}
		a.length = int64(n)
	}
}
