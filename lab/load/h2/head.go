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
	load.Request
	fields []hpack.HeaderField
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
		all = append(all, request{a, append([]hpack.HeaderField{{Name: ":method", Value: a.Method}, {Name: ":scheme", Value: u.Scheme},
			{Name: ":authority", Value: host}, {Name: ":path", Value: a.Path}}, rest...)})
	}
	return all, nil
}

// values are those of a header in the head that was read last.
func (s *session) values(name string) (all []string) {
	for _, f := range s.fields {
		if strings.EqualFold(f.Name, name) {
			all = append(all, f.Value)
		}
	}
	return all
}

// said is what that head says that is of any interest: a status, and a length or -1.
func (s *session) said() (status int, length int64, err error) {
	length = -1
	for _, f := range s.fields {
		switch f.Name {
		case ":status":
			n, wrong := strconv.ParseUint(f.Value, 10, 16)
			if wrong != nil || len(f.Value) != 3 || n < 100 || status != 0 {
				err = fmt.Errorf("a status of %.40q, which is none or a second one", f.Value)
			}
			status = int(n)
		case "content-length":
			n, wrong := strconv.ParseUint(f.Value, 10, 62)
			if wrong != nil || length >= 0 && length != int64(n) {
				err = fmt.Errorf("content-length %.40q, which is none or a second one", f.Value)
			}
			length = int64(n)
		}
	}
	return status, length, err
}
