// Package catalog has the lab server's routes and the data behind them: five hundred
// products, plain and compressed, batches of them, the order in which a server draws
// them, and their aggregate.
//
// It generates everything from fixed seeds and serialises it once. The data need not be
// realistic, but must be identical: runs on two machines must answer with the same bytes,
// or a difference in throughput could be a difference in payload. A run proves this with
// [Pool.Digest].
//
// This sets its limits. The bytes hold for the versions of gofakeit and Go that go.mod
// pins. An upgrade may change them; the tests pin the digest so that such a change is a
// decision. Text is Lorem ipsum, so how well the pool compresses says nothing about other data. No request
// reads a disk or a database, so nothing here tells how a server that does would behave.
package catalog

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
)

const (
	// Size is the number of products.
	Size = 500

	// Batches is the number of pre-serialised lists. It divides Size, so an index that is
	// uniform over the products is, modulo Batches, uniform over the batches.
	Batches = 25

	// A list has from minBatch to maxBatch products.
	minBatch = 20
	maxBatch = 30

	// batchRoom is enough for the longest list. Growing the buffer took a fifth of a
	// worker's start.
	batchRoom = 160 << 10
)

// Simple is the answer of /simple. With Fiber's header it makes a response of 124 bytes,
// as do entry 05's bytes divided by its requests.
const Simple = `{"message":"hi"}`

// A Pool holds the bodies of the server's answers. Nobody writes to a finished pool: bodies go to
// the network without a copy.
type Pool struct {
	bodies  [][]byte
	batches [][]byte
	items   []Item
	digest  string

	compress   sync.Once
	compressed [][]byte // see Compressed
}

// NewPool generates the pool. It takes tens of milliseconds, before the server listens.
//
// An embedded file with the same bytes would be 2 MB of data in the repository that no reader can
// check against its source.
func NewPool(seed uint64) (*Pool, error) {
	products := generate(seed, Size)
	p := &Pool{
		bodies: make([][]byte, len(products)),
		items:  make([]Item, len(products)),
	}
	sum := sha256.New()
	for i := range products {
		body, err := json.Marshal(&products[i])
		if err != nil {
			return nil, fmt.Errorf("serialise product %d: %w", i, err)
		}
		p.bodies[i] = body
		p.items[i] = Item{Price: products[i].Price, Brand: products[i].Brand}
		// The newline marks where each body ends: without it, a byte could move from one
		// body to the next without changing the digest.
		sum.Write(body)
		sum.Write([]byte{'\n'})
	}
	p.digest = hex.EncodeToString(sum.Sum(nil))
	p.batches = cutBatches(seed, p.bodies)
	return p, nil
}

// cutBatches joins bodies that are serialised already, so a product has the same bytes in
// a list as alone.
func cutBatches(seed uint64, bodies [][]byte) [][]byte {
	rng := rand.New(rand.NewPCG(seed, streamBatches))
	batches := make([][]byte, Batches)
	for i := range batches {
		n := minBatch + rng.IntN(maxBatch-minBatch+1)
		b := make([]byte, 0, batchRoom)
		b = append(b, `{"count":`...)
		b = strconv.AppendInt(b, int64(n), 10)
		b = append(b, `,"products":[`...)
		for j := range n {
			if j > 0 {
				b = append(b, ',')
			}
			b = append(b, bodies[rng.IntN(len(bodies))]...)
		}
		batches[i] = append(b, "]}"...)
	}
	return batches
}

// Body returns product i, serialised.
func (p *Pool) Body(i int) []byte { return p.bodies[i] }

// Compressed returns product i, serialised and compressed at the best compression. The
// first call compresses all products, which takes tens of milliseconds; no request is
// compressed for itself. Done at the start, it would double the time in which every server
// and each of its workers starts, for a route that few experiments load.
//
// Heads of gzip can have a time and a name of a file; these have neither, so the bytes are
// the same on every machine.
func (p *Pool) Compressed(i int) []byte {
	p.compress.Do(func() {
		var out bytes.Buffer
		w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is one of the package's own
		for _, b := range p.bodies {
			out.Reset()
			w.Reset(&out)
			_, _ = w.Write(b) // a buffer takes everything
			_ = w.Close()
			p.compressed = append(p.compressed, bytes.Clone(out.Bytes()))
		}
	})
	return p.compressed[i]
}

// Batch returns the list that belongs to product index i.
func (p *Pool) Batch(i int) []byte { return p.batches[i%Batches] }

// Item returns the part of product i that /compute reads.
func (p *Pool) Item(i int) Item { return p.items[i] }

// Digest is the SHA-256, in hexadecimal, of every body in order, each followed
// by a newline.
func (p *Pool) Digest() string { return p.digest }
