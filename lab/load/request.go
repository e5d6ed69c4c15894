package load

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Request is one of those that a target is asked for.
type Request struct {
	Name    string      `json:"name,omitempty"` // in tables; the names of a target differ
	Method  string      `json:"method"`
	Path    string      `json:"path"` // origin form, with query
	Headers [][2]string `json:"headers,omitempty"`
	Body    []byte      `json:"body,omitempty"`
	Weight  float64     `json:"weight,omitempty"` // share of all requests, over the sum of weights; 0: 1
	Status  []int       `json:"status,omitempty"` // expected; none: any 2xx
	Check   *Check      `json:"check,omitempty"`
}

// A Check says what an answer with an expected status has to be. With a body, a part of one or
// JSON in it, that alone says whether a body is right, so bodies may vary; else they are
// compared with each other.
type Check struct {
	Headers  [][2]string `json:"headers,omitempty"`  // name and value; "": any value
	Body     []byte      `json:"body,omitempty"`     // the whole body
	Contains string      `json:"contains,omitempty"` // somewhere in the body
	JSON     []Field     `json:"json,omitempty"`     // values in a body that is JSON
}

// A Field is a value that has to be in a JSON document.
type Field struct {
	Pointer string `json:"pointer"` // RFC 6901, as /items/0/id
	Value   string `json:"value"`   // as JSON; "": any value
}

// Limits of a target's requests.
const (
	MaxRequests = 64
	MaxBodies   = 16 << 20 // bytes of all of a target's bodies
	maxWeight   = 1e6
)

var (
	token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$")
	// RFC 9112, 3.2.1: an absolute path and perhaps a query, of the characters of RFC 3986.
	originForm = regexp.MustCompile(`^/([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*$`)
	pointer    = regexp.MustCompile(`^(/([^/~]|~[01])*)*$`)
	fieldValue = regexp.MustCompile(`^([^\x00-\x20\x7f]([^\x00-\x08\x0a-\x1f\x7f]*[^\x00-\x20\x7f])?)?$`)
	unescape   = strings.NewReplacer("~1", "/", "~0", "~")
)

// ours are headers that follow from what else is asked.
var ours = map[string]string{"content-length": "it follows from the body", "transfer-encoding": "a body is sent whole",
	"connection": "close says whether it stays open", "upgrade": "no other protocol can be measured",
	"keep-alive": "close says whether it stays open", "proxy-connection": "close says whether it stays open"}

// CheckRequests says what is wrong with a target's requests, by field.
func (t *Target) CheckRequests() error {
	names, bodies := map[string]bool{}, 0
	if len(t.Requests) > MaxRequests {
		return fmt.Errorf("requests: there are %d; give up to %d", len(t.Requests), MaxRequests)
	}
	if len(t.Requests) > 0 && t.Answers != "" {
		return errors.New("requests: answers are known of a lone GET; give each request a check")
	}
	for i := range t.Requests {
		r := &t.Requests[i]
		if err := r.Valid(); err != nil {
			return fmt.Errorf("requests/%d: %w", i, err)
		}
		if r.Name != "" && names[r.Name] {
			return fmt.Errorf("requests/%d: two are named %q", i, r.Name)
		}
		names[r.Name] = true
		bodies += len(r.Body)
	}
	if bodies > MaxBodies {
		return fmt.Errorf("requests: their bodies have %d bytes; give up to %d", bodies, MaxBodies)
	}
	return nil
}

// Valid says what is wrong with a request, by field.
func (r *Request) Valid() error {
	switch {
	case len(r.Name) > 64 || strings.ContainsFunc(r.Name, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return fmt.Errorf("name is %.80q; give up to 64 characters that can be seen", r.Name)
	case !token.MatchString(r.Method) || r.Method == "CONNECT":
		return fmt.Errorf("method is %.80q; give one such as GET or POST", r.Method)
	case !originForm.MatchString(r.Path):
		return fmt.Errorf("path is %.80q; give what follows the host, as /find?q=a%%20b, with %%20 for a blank", r.Path)
	case r.Weight != 0 && !(r.Weight > 0 && r.Weight <= maxWeight):
		return fmt.Errorf("weight is %v; give a number above 0, up to %v", r.Weight, maxWeight)
	}
	hosts := 0
	for _, h := range r.Headers {
		name := strings.ToLower(h[0])
		if name == "host" {
			hosts++
		}
		switch {
		case !token.MatchString(h[0]):
			return fmt.Errorf("headers: %.80q is no name of a header", h[0])
		case !fieldValue.MatchString(h[1]):
			return fmt.Errorf("headers: %s: %.80q is no value; it has a line break or a blank at its end", h[0], h[1])
		case ours[name] != "":
			return fmt.Errorf("headers: %s cannot be given: %s", h[0], ours[name])
		case hosts > 1:
			return errors.New("headers: Host is there twice")
		}
	}
	for i, s := range r.Status {
		if s < 200 || s > 599 || slices.Contains(r.Status[:i], s) {
			return fmt.Errorf("status: %d is none that ends an answer, or there twice; give some of 200 to 599", s)
		}
	}
	if r.Check == nil {
		return nil
	}
	return r.Check.valid(r.Method)
}

func (c *Check) valid(method string) error {
	for _, h := range c.Headers {
		if !token.MatchString(h[0]) || !fieldValue.MatchString(h[1]) {
			return fmt.Errorf("check: %.80q is no header that can come", h[0]+": "+h[1])
		}
	}
	for _, f := range c.JSON {
		if !pointer.MatchString(f.Pointer) {
			return fmt.Errorf("check: json: %.80q is no pointer; give one such as /items/0/id", f.Pointer)
		}
		if f.Value != "" && !json.Valid([]byte(f.Value)) {
			return fmt.Errorf("check: json: %s: %.80q is no JSON; give a text as %q", f.Pointer, f.Value, `"text"`)
		}
	}
	switch {
	case c.OfBody() && method == "HEAD":
		return errors.New("check: an answer to HEAD has no body; check its headers")
	case c.Body != nil && (c.Contains != "" || len(c.JSON) > 0):
		return errors.New("check: body is the whole body; leave out contains and json")
	case !c.OfBody() && len(c.Headers) == 0:
		return errors.New("check: there is nothing in it")
	}
	return nil
}

// Label names a request in tables and messages.
func (r *Request) Label() string { return cmp.Or(r.Name, r.Method+" "+r.Path) }

// weight is a request's share over the sum of all.
func (r *Request) weight() float64 { return cmp.Or(r.Weight, 1) }

// host is what the Host header has, or else.
func (r *Request) host(otherwise string) string {
	for _, h := range r.Headers {
		if strings.EqualFold(h[0], "host") {
			return h[1]
		}
	}
	return otherwise
}

// text is the request as it is written in HTTP/1.1.
func (r *Request) text(host string, closes bool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.Path, r.host(host))
	for _, h := range r.Headers {
		if !strings.EqualFold(h[0], "host") {
			fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
		}
	}
	// RFC 9110, 8.6: a method that has a meaning for content says that there is none.
	if len(r.Body) > 0 || r.Method == "POST" || r.Method == "PUT" || r.Method == "PATCH" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(r.Body))
	}
	if closes {
		b.WriteString("Connection: close\r\n")
	}
	b.WriteString("\r\n")
	b.Write(r.Body)
	return b.Bytes()
}

// Expects tells whether a status is one of those that are expected.
func (r *Request) Expects(status int) bool {
	if len(r.Status) == 0 {
		return status >= 200 && status <= 299
	}
	return slices.Contains(r.Status, status)
}

// OfBody tells whether a body is judged by the check, and not by comparing it with others.
func (c *Check) OfBody() bool {
	return c != nil && (c.Body != nil || c.Contains != "" || len(c.JSON) > 0)
}

// Share says that every body is checked, or one in so many where each has to be decoded.
func (c *Check) Share() int {
	if len(c.JSON) > 0 {
		return oneIn
	}
	return 1
}

// Length says what is wrong with the length of a body.
func (c *Check) Length(n int) error {
	switch {
	case c.Body == nil && len(c.JSON) > 0:
		return nil // decode one in so many
	case c.Body == nil:
		return fmt.Errorf("a body of %d bytes, which is too long to be checked", n)
	case n != len(c.Body):
		return fmt.Errorf("%d bytes of body, expected were %d", n, len(c.Body))
	}
	return nil
}

// Fault says what is wrong with a body; nil if nothing is.
func (c *Check) Fault(body []byte) error {
	if c.Body != nil && !bytes.Equal(body, c.Body) {
		if err := c.Length(len(body)); err != nil {
			return err
		}
		return fmt.Errorf("a body that differs from the expected one at byte %d", FirstDifference(body, c.Body))
	}
	if c.Contains != "" && !bytes.Contains(body, []byte(c.Contains)) {
		return fmt.Errorf("a body without %.40q: %.40q", c.Contains, body)
	}
	if len(c.JSON) == 0 {
		return nil
	}
	var doc any
	if err := json.Unmarshal(body, &doc); err != nil {
		return fmt.Errorf("a body that is no JSON: %.60q", body)
	}
	for _, f := range c.JSON {
		has, ok := f.find(doc)
		if !ok {
			return fmt.Errorf("no %s in the JSON of the body: %.60q", f.Pointer, body)
		}
		var want any
		_ = json.Unmarshal([]byte(f.Value), &want) // it is valid
		if f.Value != "" && !reflect.DeepEqual(has, want) {
			text, _ := json.Marshal(has)
			return fmt.Errorf("%s is %.40s in the body, expected was %.40s", f.Pointer, text, f.Value)
		}
	}
	return nil
}

// find follows the pointer into a document.
func (f Field) find(doc any) (has any, ok bool) {
	for _, part := range strings.Split(f.Pointer, "/")[1:] {
		ok = false
		switch in := doc.(type) {
		case map[string]any:
			doc, ok = in[unescape.Replace(part)]
		case []any:
			if i, err := strconv.ParseUint(part, 10, 32); err == nil && i < uint64(len(in)) {
				doc, ok = in[i], true
			}
		}
		if !ok {
			return nil, false
		}
	}
	return doc, true
}

// HeadFault says what is wrong with a head, of which values gives those of a header.
func (c *Check) HeadFault(values func(name string) []string) error {
	if c == nil {
		return nil
	}
	for _, h := range c.Headers {
		switch has := values(h[0]); {
		case len(has) == 0:
			return fmt.Errorf("no header %s", h[0])
		case h[1] != "" && !slices.Contains(has, h[1]):
			return fmt.Errorf("header %s is %.60q, expected was %.60q", h[0], has[0], h[1])
		}
	}
	return nil
}
