package probe

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/load"
)

// A Given is one answer of a server. The rest of its head (date, name of the server) may differ.
type Given struct {
	Of             int // which of the requests
	Status         int
	Type, Encoding string
	Body           []byte // nil if a check says that it is right
}

// mostBody limits the length of a body in bytes.
const mostBody = 64 << 20

// take reads an answer to one of the requests. An answer with an expected status that is not as
// the request's check has it is an error.
func take(a *http.Response, of int, r load.Request) (Given, error) {
	body, err := io.ReadAll(io.LimitReader(a.Body, mostBody+1))
	switch {
	case err != nil && strings.Contains(err.Error(), "chunk length"):
		// Go refuses some chunks that the grammar allows. The load takes them, and compares the bodies.
		body = nil
	case err != nil:
		return Given{}, fmt.Errorf("a body that ends after %d bytes: %w", len(body), err)
	case len(body) > mostBody:
		return Given{}, fmt.Errorf("a body of more than %d bytes", mostBody)
	}
	g := Given{of, a.StatusCode, strings.Join(a.Header.Values("Content-Type"), ", "),
		strings.Join(a.Header.Values("Content-Encoding"), ", "), body}
	if err := r.Check.HeadFault(a.Header.Values); err != nil {
		return g, err
	}
	if r.Check.OfBody() {
		g.Body = nil
		return g, r.Check.Fault(body)
	}
	return g, nil
}

// To are the answers to one of the requests.
func To(of int, all []Given) []Given {
	return slices.DeleteFunc(slices.Clone(all), func(g Given) bool { return g.Of != of })
}

// Varies reports whether a server's bodies change from one request to the next.
func Varies(all []Given) bool {
	return slices.ContainsFunc(all, func(g Given) bool { return !bytes.Equal(g.Body, To(g.Of, all)[0].Body) })
}

// A Difference is how the answers of a server differ from those of another to the same request.
type Difference struct {
	Field        string // status, Content-Type, Content-Encoding, or what of the body
	Ours, Theirs string
	Of           int // which of the requests
}

// lengthsApart is the share by which lengths of bodies may differ that change by themselves.
const lengthsApart = 0.05

// Differ compares the answers of two servers, and gives the first difference; nil if there is none. What
// varies in the other's answers may vary. Of bodies that change by themselves only the lengths are
// compared, roughly.
func Differ(theirs, ours []Given) *Difference {
	for of := range ours[len(ours)-1].Of + 1 {
		if d := differ(To(of, theirs), To(of, ours)); d != nil {
			d.Of = of
			return d
		}
	}
	return nil
}

func differ(theirs, ours []Given) *Difference {
	for _, field := range []struct {
		name  string
		value func(Given) string
	}{
		{"status", func(g Given) string { return strconv.Itoa(g.Status) }},
		{"Content-Type", func(g Given) string { return shown(g.Type) }},
		{"Content-Encoding", func(g Given) string { return shown(g.Encoding) }},
	} {
		was := field.value(theirs[0])
		other := func(g Given) bool { return field.value(g) != was }
		if i := slices.IndexFunc(ours, other); i >= 0 && !slices.ContainsFunc(theirs, other) {
			return &Difference{Field: field.name, Ours: field.value(ours[i]), Theirs: was}
		}
	}
	x, y := theirs[0].Body, ours[0].Body
	switch vary, theyVary := Varies(ours), Varies(theirs); {
	case vary && theyVary:
		least, most := lengths(ours)
		low, high := lengths(theirs)
		if float64(least) > float64(high)*(1+lengthsApart) || float64(low) > float64(most)*(1+lengthsApart) {
			return &Difference{Field: "bodies of", Ours: fmt.Sprintf("%d to %d bytes", least, most), Theirs: fmt.Sprintf("%d to %d", low, high)}
		}
	case vary && len(theirs) > 1:
		return &Difference{Field: "a body", Ours: "that changes by itself", Theirs: "one that does not"}
	case theyVary && len(ours) > 1:
		return &Difference{Field: "a body", Ours: "that does not change", Theirs: "one that changes by itself"}
	case vary || theyVary: // of one answer it cannot be known
	case len(x) != len(y):
		return &Difference{Field: "a body of", Ours: fmt.Sprintf("%d bytes", len(y)), Theirs: strconv.Itoa(len(x))}
	case !bytes.Equal(x, y):
		at := load.FirstDifference(x, y)
		return &Difference{Field: "a body that has", Ours: fmt.Sprintf("%q as byte %d", y[at-1:at], at),
			Theirs: fmt.Sprintf("%q there", x[at-1:at])}
	}
	return nil
}

func lengths(all []Given) (least, most int) {
	sizes := strict.Map(all, func(g Given) int { return len(g.Body) })
	return slices.Min(sizes), slices.Max(sizes)
}

func shown(v string) string {
	if v == "" {
		return "none"
	}
	return strconv.Quote(strict.Visible(v, 60))
}

// Changing is what Alike says of bodies that change by themselves in another way than with the time.
const Changing = "what changes"

// times are moments, as bodies have them: in words, or as seconds since 1970, or parts of them.
var times = regexp.MustCompile(`(\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:?\d\d)?|\b1[789]\d{8}\.?\d{0,9}\b`)

// masks take out of bodies what a server or a moment may have of its own.
var masks = []struct {
	name string
	mask func(body []byte, addr string) []byte
}{
	{"", func(body []byte, _ string) []byte { return body }},
	{"their own address", func(body []byte, addr string) []byte {
		_, port, _ := net.SplitHostPort(addr)
		return bytes.ReplaceAll(bytes.ReplaceAll(body, []byte(addr), nil), []byte(port), nil)
	}},
	{"the time", func(body []byte, _ string) []byte { return times.ReplaceAll(body, nil) }},
}

// Alike compares the answers of two servers at their addresses as Differ does. Where they differ,
// it leaves out what each has of its own, which own names; own is Changing where only heads and
// lengths could be compared.
func Alike(theirs, ours []Given, their, our string) (own string, d *Difference) {
	d = Differ(theirs, ours)
	for _, m := range masks {
		without := func(addr string) func(Given) Given {
			return func(g Given) Given {
				if masked := m.mask(g.Body, addr); !bytes.Equal(masked, g.Body) {
					g.Body = masked
					if !strings.HasSuffix(own, m.name) {
						own = strings.TrimPrefix(own+" and "+m.name, " and ")
					}
				}
				return g
			}
		}
		theirs, ours = strict.Map(theirs, without(their)), strict.Map(ours, without(our))
		if !Varies(theirs) && !Varies(ours) {
			if d = Differ(theirs, ours); d == nil {
				return own, nil
			}
		}
	}
	return Changing, d
}
