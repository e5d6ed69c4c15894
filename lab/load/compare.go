package load

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

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
	set    Bodies     // nil: the right answers are not known
	share  int        // one in so many is compared in full; 0: none
	seen   int        // bodies so far, up to firstInFull
	turn   int        // of share bodies, the next
	chosen int        // of share bodies, the one that is compared
	chance *rand.Rand // draws it: what a server does in turns must not fit the turns here
	model  []byte     // the first body; or, with a set, the last body that was right
	length int64      // of the first body; -1: lengths vary too
	varies bool       // bodies are not all alike, so only their lengths are compared
	alone  bool       // lengths alone are compared: bodies vary, or are too long to be kept
	odd    error      // of the last body, where the next one tells whether it was wrong or bodies vary from now on

	compared, mismatches int64
	mismatch             string // the first mismatch
}

// newComparer is a comparer with draws of its own.
func newComparer(set Bodies, seed uint64) comparer {
	c := comparer{set: set, chance: rand.New(rand.NewPCG(seed, oneIn))}
	if set != nil {
		c.share = set.Share()
	}
	return c
}

// wants says whether take needs the next body.
func (c *comparer) wants() bool {
	if c.seen < firstInFull {
		return !c.alone
	}
	return !c.alone && (c.share == 1 || c.share > 1 && c.turn == c.chosen)
}

// take checks the body of an answer with an expected status. body is nil if it was not kept.
func (c *comparer) take(body []byte, length int64) {
	if c.turn++; c.turn >= c.share && c.share > 1 {
		c.turn, c.chosen = 0, c.chance.IntN(c.share)
	}
	if c.seen < firstInFull {
		c.seen++
		if c.set == nil {
			c.learn(body, length)
			return
		}
	}
	switch {
	case body != nil && !c.alone:
		c.compared++
		if c.model != nil && bytes.Equal(body, c.model) {
			c.settle()
		} else if c.set == nil {
			c.unlike(body)
		} else if err := c.set.Body(body); err != nil {
			c.wrong(err)
		} else if c.share == 1 {
			c.model = append(c.model[:0], body...)
		}
	case c.set != nil:
		c.wrong(c.set.Length(int(length)))
	case length == c.length:
		if c.alone {
			c.settle()
		}
	case !c.varies:
		c.wrong(c.otherLength(length))
	case c.odd != nil:
		c.length, c.odd = -1, nil
	case c.length >= 0:
		c.odd = c.otherLength(length)
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

// unlike takes a body that is not the model. One alone is wrong; two in a row of the model's length are
// of a body that changes from time to time.
func (c *comparer) unlike(body []byte) {
	switch {
	case len(body) != len(c.model):
		c.settle()
		c.wrong(c.otherLength(int64(len(body))))
	case c.odd != nil:
		c.varies, c.alone, c.odd = true, true, nil
	default:
		c.odd = fmt.Errorf("a body that differs from the first %d at byte %d", firstInFull, FirstDifference(body, c.model))
	}
}

// settle counts the last body as wrong if it was odd: what came next was as before.
func (c *comparer) settle() {
	c.wrong(c.odd)
	c.odd = nil
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

func (c *comparer) wrong(err error) {
	if err == nil {
		return
	}
	if c.mismatches++; c.mismatches == 1 {
		c.mismatch = err.Error()
	}
}
