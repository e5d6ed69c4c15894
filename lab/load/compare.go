package load

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
)

// Bodies are the right bodies of a target. All threads use them at once.
type Bodies interface {
	// Share says that one in so many bodies is to be compared in full; of the others only the
	// length is.
	Share() int
	// Length says what is wrong with a body's length in bytes; nil if nothing is.
	Length(n int) error
	// Fault says what is wrong with a body; nil if nothing is. It does not keep the body.
	Fault(body []byte) error
}

const (
	firstInFull = 32 // so many first answers of a target are compared in full, and are the fewest that tell what is wrong
	// wholeBody is the length up to which all bodies are compared with one body. Of 4.5 kB
	// that was seen to cost a fiftieth of what it costs to receive them one by one, and a
	// twentieth in a deep pipeline. A longer one is often cut, and would have to be copied
	// first.
	wholeBody = 16 << 10
	oneIn     = 64 // of longer ones, one in so many
)

// A comparer checks the bodies that came from one target. With a set of answers it compares them with that. Without
// one nobody knows which of them are right, so it compares them with the first, and counts those that differ.
type comparer struct {
	set   Bodies // nil: nobody knows the right answers
	share int    // one in so many, drawn since a server may do things in turns, is compared in full; 0: not known yet
	seen  int    // bodies so far, up to firstInFull
	model []byte // the first body; or, with a set, the last body that was right
	first int64  // length of the first body
	alone bool   // compare lengths alone: bodies change, or are too long to keep

	lengths, bytes odds // without a set: of all bodies, and of those that were compared in full
	compared       int64
	wrong          int64  // bodies that are not as expected
	fault          string // of the first of these
}

// wants says whether take needs the next body.
func (c *comparer) wants() bool {
	return !c.alone && (c.seen < firstInFull || c.share == 1 || c.share > 1 && rand.IntN(c.share) == 0)
}

// take checks the body of an answer with an expected status. body is nil if it was not kept.
func (c *comparer) take(body []byte, length int64) {
	c.seen = min(c.seen+1, firstInFull)
	full := body != nil && !c.alone
	if full {
		c.compared++
	}
	same := full && c.model != nil && bytes.Equal(body, c.model)
	switch {
	case c.set == nil:
		c.hold(same, full, body, length)
	case same:
	case !full:
		c.refuse(c.set.Length(int(length)))
	default:
		if err := c.set.Fault(body); err != nil {
			c.refuse(err)
		} else if c.share == 1 {
			c.model = append(c.model[:0], body...)
		}
	}
}

// hold holds a body against the first.
func (c *comparer) hold(same, full bool, body []byte, length int64) {
	switch {
	case c.lengths.of == 0:
		c.first, c.alone, c.model = length, body == nil, append([]byte{}, body...)
		if c.share = oneIn; len(body) <= wholeBody {
			c.share = 1
		}
		same = true
	case length != c.first && c.lengths.odd == 0:
		c.lengths.says = fmt.Sprintf("%d bytes of body, the first %d had %d", length, firstInFull, c.first)
	case full && length == c.first && !same && c.bytes.odd == 0:
		c.bytes.says = fmt.Sprintf("a body that differs from the first %d at byte %d", firstInFull, FirstDifference(body, c.model))
	}
	c.lengths.add(length != c.first)
	if full && length == c.first {
		c.bytes.add(!same)
	}
	c.alone = c.alone || c.lengths.many() || c.bytes.many()
}

func (c *comparer) refuse(err error) {
	if err == nil {
		return
	}
	if c.wrong++; c.wrong == 1 {
		c.fault = err.Error()
	}
}

// result is how many bodies were wrong, what the first of them was, and whether bodies change, which is no fault.
func (c *comparer) result() (wrong int64, fault string, changes bool) {
	wrong, fault = c.wrong, c.fault
	for _, o := range []*odds{&c.lengths, &c.bytes} {
		if o.change() {
			changes = true
		} else if o.odd > 0 {
			wrong, fault = wrong+o.odd, cmp.Or(fault, o.says)
		}
	}
	return wrong, fault, changes
}

// odds count the bodies of a target that are not as the first. Their share tells what they are. One in a thousand is
// wrong. Of a server whose bodies change by themselves more than mostOdd differ, or all from some body on, as
// where they hold the hour.
type odds struct {
	of, odd int64
	row     int64  // so many of the last bodies were odd
	says    string // of the first odd one
}

const mostOdd = 0.01

func (o *odds) add(odd bool) {
	o.of++
	o.row++
	if !odd {
		o.row = 0
		return
	}
	o.odd++
}

// many says that surely more than mostOdd differ: by three standard deviations more than so many would.
func (o *odds) many() bool {
	most := mostOdd * float64(o.of)
	return o.of >= firstInFull && float64(o.odd) > most+3*math.Sqrt(most)
}

func (o *odds) change() bool { return o.odd > 0 && (o.of < firstInFull || o.row > 1) || o.many() }

// FirstDifference is the first byte in which bodies differ, counted from 1.
func FirstDifference(a, b []byte) int {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return at + 1
}
