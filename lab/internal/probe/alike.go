package probe

import (
	"bytes"
	"net"
	"regexp"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

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
