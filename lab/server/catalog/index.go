package catalog

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/brianvoe/gofakeit/v7"
)

// A Source says which product a request gets. Both methods are safe for concurrent use;
// entry 09 measures what that costs.
type Source interface {
	// Next returns an index from 0 to Size-1.
	Next() int

	// Fill sets every element of dst as Next would.
	Fill(dst []int)
}

// WalkLen is the number of draws after which a [Walk] starts again.
const WalkLen = 1 << 20

const walkMask = WalkLen - 1

// A Walk is a Source that reads a table of indices, drawn in advance, again and again. A
// step is one atomic add and one load, without a lock.
//
// The order is the same in every process and every run, so that two runs serve the same
// products in the same proportions. A seed from the clock would only make a run that
// cannot be repeated.
type Walk struct {
	table *[WalkLen]uint16 // 2 MB; int32 would double that in each of 128 workers
	// keeps the cursor, which every core writes, off the cache line of the pointer, which is only read
	_      [64]byte
	cursor atomic.Uint64
	_      [56]byte
}

// NewWalk draws the table.
func NewWalk(seed uint64) *Walk {
	rng := rand.New(rand.NewPCG(seed, streamWalk))
	w := &Walk{table: new([WalkLen]uint16)}
	for i := range w.table {
		w.table[i] = uint16(rng.IntN(Size))
	}
	return w
}

// Next implements [Source].
func (w *Walk) Next() int { return int(w.table[w.cursor.Add(1)&walkMask]) }

// Fill implements [Source]. It claims its part of the table with one add: with a hundred
// adds, /compute would measure the cursor.
func (w *Walk) Fill(dst []int) {
	end := w.cursor.Add(uint64(len(dst)))
	first := end - uint64(len(dst)) + 1
	for i := range dst {
		dst[i] = int(w.table[(first+uint64(i))&walkMask])
	}
}

// Faker is the Source that entry 09 found in the request path: gofakeit's global faker.
// Each of its draws takes one mutex for the whole process, in (*Faker).Uint64. It is here
// to measure the finding again, not for use.
type Faker struct{}

// Next implements [Source].
func (Faker) Next() int { return gofakeit.Number(0, Size-1) }

// Fill implements [Source].
func (f Faker) Fill(dst []int) {
	for i := range dst {
		dst[i] = f.Next()
	}
}
