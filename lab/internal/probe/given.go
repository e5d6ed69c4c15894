package probe

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/load"
)

// A Given is one answer of a server whose right answers nobody has told the lab. The rest of its
// head (date, name of the server) may differ.
type Given struct {
	Of       int    `json:"of,omitempty"` // which of the requests
	Status   int    `json:"status"`
	Type     string `json:"type,omitempty"`
	Encoding string `json:"encoding,omitempty"`
	Length   int    `json:"length"` // of the body in bytes
	SHA256   string `json:"sha256"` // of the body; empty, as its length, if a check says that it is right
	Body     []byte `json:"-"`      // nil too if a check says that
}

// MostBody limits the length of a body in bytes.
const MostBody = 64 << 20

// Take reads an answer to one of the requests. An answer with an expected status that is not as
// the request's check has it is an error.
func Take(a *http.Response, of int, r load.Request) (Given, error) {
	body, err := io.ReadAll(io.LimitReader(a.Body, MostBody+1))
	switch {
	case err != nil && strings.Contains(err.Error(), "chunk length"):
		// Go refuses some chunks that the grammar allows. The load takes them, and compares the bodies.
		body = nil
	case err != nil:
		return Given{}, fmt.Errorf("a body that ends after %d bytes: %w", len(body), err)
	case len(body) > MostBody:
		return Given{}, fmt.Errorf("a body of more than %d bytes", MostBody)
	}
	g := Given{of, a.StatusCode, strings.Join(a.Header.Values("Content-Type"), ", "),
		strings.Join(a.Header.Values("Content-Encoding"), ", "), len(body), fmt.Sprintf("%x", sha256.Sum256(body)), body}
	if !r.Expects(a.StatusCode) {
		return g, nil
	}
	if err := r.Check.HeadFault(a.Header.Values); err != nil {
		return g, err
	}
	if r.Check.OfBody() {
		g.Length, g.SHA256, g.Body = 0, "", nil
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
	return slices.ContainsFunc(all, func(g Given) bool { return g.SHA256 != To(g.Of, all)[0].SHA256 })
}

// A Difference is how the answers of a server differ from those of another to the same request.
type Difference struct {
	Field        string // status, Content-Type, Content-Encoding, or what of the body; empty: they do not differ
	Ours, Theirs string
}

func (d Difference) String() string {
	if d.Field == "" {
		return ""
	}
	return fmt.Sprintf("%s %s, not %s", d.Field, d.Ours, d.Theirs)
}

// lengthsApart is the share by which lengths of bodies may differ that change by themselves.
const lengthsApart = 0.05

// Differ compares the answers of servers to one request. What varies in the other's answers may vary.
// Of bodies that change by themselves only the lengths are compared, roughly.
func Differ(theirs, ours []Given) Difference {
	for _, field := range []struct {
		name string
		of   func(Given) string
	}{
		{"status", func(g Given) string { return strconv.Itoa(g.Status) }},
		{"Content-Type", func(g Given) string { return shown(g.Type) }},
		{"Content-Encoding", func(g Given) string { return shown(g.Encoding) }},
	} {
		was := field.of(theirs[0])
		other := func(g Given) bool { return field.of(g) != was }
		if i := slices.IndexFunc(ours, other); i >= 0 && !slices.ContainsFunc(theirs, other) {
			return Difference{field.name, field.of(ours[i]), was}
		}
	}
	x, y := theirs[0], ours[0]
	switch vary, theyVary := Varies(ours), Varies(theirs); {
	case vary && theyVary:
		least, most := lengths(ours)
		low, high := lengths(theirs)
		if float64(least) > float64(high)*(1+lengthsApart) || float64(low) > float64(most)*(1+lengthsApart) {
			return Difference{"bodies of", fmt.Sprintf("%d to %d bytes", least, most), fmt.Sprintf("%d to %d", low, high)}
		}
		return Difference{}
	case vary && len(theirs) > 1:
		return Difference{"a body", "that changes by itself", "one that does not"}
	case theyVary && len(ours) > 1:
		return Difference{"a body", "that does not change", "one that changes by itself"}
	case vary || theyVary: // of one answer it cannot be known
		return Difference{}
	case x.Length != y.Length:
		return Difference{"a body of", fmt.Sprintf("%d bytes", y.Length), fmt.Sprintf("%d", x.Length)}
	case x.SHA256 == y.SHA256:
		return Difference{}
	case len(x.Body) == x.Length && len(y.Body) == y.Length:
		at := load.FirstDifference(x.Body, y.Body)
		return Difference{"a body that has", fmt.Sprintf("%q as byte %d", y.Body[at-1:at], at), fmt.Sprintf("%q there", x.Body[at-1:at])}
	}
	return Difference{"a body of SHA-256", y.SHA256[:min(12, len(y.SHA256))], x.SHA256[:min(12, len(x.SHA256))]}
}

func lengths(all []Given) (least, most int) {
	least = all[0].Length
	for _, g := range all {
		least, most = min(least, g.Length), max(most, g.Length)
	}
	return least, most
}

func shown(v string) string {
	if v == "" {
		return "none"
	}
	return strconv.Quote(strict.Visible(v, 60))
}
