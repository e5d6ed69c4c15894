package load

import (
	"bytes"
	"fmt"
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
	firstInFull = 32 // so many first answers of a target are compared in full
	// wholeBody is the length up to which all bodies are compared with one body. Of 4.5 kB
	// that was seen to cost a fiftieth of what it costs to receive them one by one, and a
	// twentieth in a deep pipeline. A longer one is often cut, and would have to be copied
	// first.
	wholeBody = 16 << 10
	oneIn     = 64 // of longer ones, one in so many
)

// A comparer checks the bodies that came from one target. With a set of answers it
// compares them with that. Without one it compares them with the first body, if the first
// so many were all alike.
type comparer struct {
	set    Bodies // nil: nobody knows the right answers
	share  int    // one in so many, drawn since a server may do things in turns, is compared in full; 0: none
	seen   int    // bodies so far, up to firstInFull
	model  []byte // the first body; or, with a set, the last body that was right
	length int64  // of the first body; -1: lengths vary too
	varies bool   // bodies are not all alike, so only their lengths are compared
	alone  bool   // compare lengths alone: bodies vary, or are too long to keep
	odd    error  // of the last body, where the next one tells whether it was wrong or bodies vary from now on

	compared, mismatches int64
	mismatch             string // the first mismatch
}

// wants says whether take needs the next body.
func (c *comparer) wants() bool {
	return !c.alone && (c.seen < firstInFull || c.share == 1 || c.share > 1 && rand.IntN(c.share) == 0)
}

// take checks the body of an answer with an expected status. body is nil if it was not kept.
func (c *comparer) take(body []byte, length int64) {
	if c.seen < firstInFull {
		if c.seen++; c.set == nil {
			c.learn(body, length)
			return
		}
	}
	full := body != nil && !c.alone
	if full {
		c.compared++
	}
	switch same := full && c.model != nil && bytes.Equal(body, c.model); {
	case same:
		c.settle(nil)
	case c.set != nil && !full:
		c.wrong(c.set.Length(int(length)))
	case c.set != nil:
		if err := c.set.Fault(body); err != nil {
			c.wrong(err)
		} else if c.share == 1 {
			c.model = append(c.model[:0], body...)
		}
	case length != c.length && !c.varies:
		c.settle(nil)
		c.wrong(c.otherLength(length))
	case length != c.length && c.length >= 0:
		if c.settle(c.otherLength(length)) {
			c.length = -1
		}
	case full:
		c.varies = c.settle(fmt.Errorf("a body that differs from the first %d at byte %d", firstInFull, FirstDifference(body, c.model)))
		c.alone = c.varies
	case c.alone:
		c.settle(nil)
	}
}

// learn takes one of the first bodies.
func (c *comparer) learn(body []byte, length int64) {
	switch {
	case c.seen == 1:
		c.length, c.alone = length, body == nil
		c.model = append([]byte{}, body...)
	case length != c.length:
		c.varies, c.alone, c.length = true, true, -1
	case !c.alone && !bytes.Equal(body, c.model):
		c.varies, c.alone = true, true
	}
	if c.seen == firstInFull && !c.alone {
		if c.share = oneIn; len(c.model) <= wholeBody {
			c.share = 1
		}
		c.compared += firstInFull
	}
}

// settle takes what is odd of a body, if anything is. One alone is wrong, which the next body tells that is
// as before; two in a row are of a body that changes from time to time, and then it is true.
func (c *comparer) settle(odd error) (changes bool) {
	switch last := c.odd; {
	case odd == nil:
		c.odd = nil
		c.wrong(last)
	case last == nil:
		c.odd = odd
	default:
		c.odd, changes = nil, true
	}
	return changes
}

func (c *comparer) wrong(err error) {
	if err == nil {
		return
	}
	if c.mismatches++; c.mismatches == 1 {
		c.mismatch = err.Error()
	}
}

func (c *comparer) otherLength(n int64) error {
	return fmt.Errorf("%d bytes of body, the first %d had %d", n, firstInFull, c.length)
}

// FirstDifference is the first byte in which bodies differ, counted from 1.
func FirstDifference(a, b []byte) int {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return at + 1
}
