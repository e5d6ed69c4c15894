package catalog

import (
	"bytes"
	"compress/gzip"
)

// Compressed returns product i, serialised and compressed at the best compression. The
// first call compresses all products, which takes tens of milliseconds; no request is
// compressed for itself.
//
// The series compressed them before it listened. Here that would double the time in which
// every server and each of its workers starts, for a route that few experiments load. The
// lab counts from when each connection has had its first answer, so the work is done by
// then in either way.
func (p *Pool) Compressed(i int) []byte {
	p.compress.Do(func() { p.compressed = compressAll(p.bodies) })
	return p.compressed[i]
}

// compressAll compresses each body for itself. Heads of gzip can have a time and a name of
// a file; these have neither, so the bytes are the same on every machine.
func compressAll(bodies [][]byte) [][]byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		panic(err) // the level is one of the package's own
	}
	all := make([][]byte, len(bodies))
	for i, b := range bodies {
		out.Reset()
		w.Reset(&out)
		_, _ = w.Write(b) // a buffer takes everything
		_ = w.Close()
		all[i] = bytes.Clone(out.Bytes())
	}
	return all
}
