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
	varies bool       // the first bodies were not all alike, so there is nothing to compare with

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
		return !c.varies
	}
	return c.share == 1 || c.share > 1 && c.turn == c.chosen
}

// take checks the body of a 2xx answer. body is nil if it was not kept.
func (c *comparer) take(body []byte, length int64) {
	if c.varies {
		return
	}
	if c.turn++; c.turn >= c.share && c.share > 1 {
		c.turn, c.chosen = 0, c.chance.IntN(c.share)
	}
	if c.set == nil && !c.learnt(body) {
		return
	}
	if c.seen < firstInFull {
		c.seen++
	}
	if body == nil {
		c.wrong(c.length(length))
		return
	}
	c.compared++
	if c.model != nil && bytes.Equal(body, c.model) {
		return
	}
	if c.set == nil {
		c.wrong(c.differs(body))
		return
	}
	if err := c.set.Body(body); err != nil {
		c.wrong(err)
	} else if c.share == 1 {
		c.model = append(c.model[:0], body...)
	}
}

// learnt says whether there is a model to compare this body with.
func (c *comparer) learnt(body []byte) bool {
	if c.seen == firstInFull {
		return true
	}
	switch {
	case body == nil, c.model != nil && !bytes.Equal(body, c.model):
		c.varies, c.model = true, nil
		return false
	case c.model == nil:
		c.model = append([]byte{}, body...)
	}
	if c.seen++; c.seen == firstInFull {
		if c.share = oneIn; len(c.model) <= wholeBody {
			c.share = 1
		}
		c.compared += firstInFull
	}
	return false
}

func (c *comparer) length(n int64) error {
	if c.set != nil {
		return c.set.Length(int(n))
	}
	if n != int64(len(c.model)) {
		return fmt.Errorf("%d bytes of body, the first %d had %d", n, firstInFull, len(c.model))
	}
	return nil
}

func (c *comparer) differs(body []byte) error {
	if err := c.length(int64(len(body))); err != nil {
		return err
	}
	return fmt.Errorf("a body that differs from the first %d at byte %d", firstInFull, FirstDifference(body, c.model))
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
