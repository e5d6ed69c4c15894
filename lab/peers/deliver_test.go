package peers

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const eventBytes = 56

// append encodes an event for the wire.
func (e event) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, e.n)
	for _, v := range e.rest {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// A receiver is an HTTP server on loopback that counts the events it gets, and also the
// sink that posts to it.
type receiver struct {
	events atomic.Int64
	server *http.Server
	client *http.Client
	url    string
	bodies sync.Pool // of *[]byte
}

func listen() *receiver {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	r := &receiver{url: "http://" + l.Addr().String(), bodies: sync.Pool{New: func() any { return new([]byte) }}}
	r.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 30 * time.Second}
	scratch := sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}
	r.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		room := scratch.Get().(*[]byte)
		n, err := io.CopyBuffer(discard{}, q.Body, *room)
		scratch.Put(room)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.events.Add(n / eventBytes)
		w.WriteHeader(http.StatusNoContent)
	})}
	go func() { _ = r.server.Serve(l) }()
	return r
}

// discard is io.Discard without its ReadFrom, which uses smaller buffers.
type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

func (r *receiver) take(_ int, body func([]byte) []byte) {
	b := r.bodies.Get().(*[]byte)
	*b = body((*b)[:0])
	answer, err := r.client.Post(r.url, "application/octet-stream", bytes.NewReader(*b))
	if err != nil {
		panic(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusNoContent {
		panic(answer.Status)
	}
	r.bodies.Put(b)
}

func (r *receiver) close() {
	_ = r.server.Close()
	r.client.CloseIdleConnections()
}

// deliver lets 8 producers add for some time as fast as they can. It returns how many
// events arrived per second, until all that were taken had arrived, and what share of the
// added events was lost.
func deliver(r *receiver, q queues, window time.Duration) (perSecond, lost float64) {
	var all sync.WaitGroup
	var added atomic.Int64
	r.events.Store(0)
	began := time.Now()
	for p := range q {
		all.Go(func() {
			const some = 64
			for n := uint64(p) << 32; time.Since(began) < window; n += some {
				q[p].add(n, n+some)
				added.Add(some)
			}
		})
	}
	all.Wait()
	q.close()
	came := float64(r.events.Load())
	return came / time.Since(began).Seconds(), 1 - came/float64(added.Load())
}

// delivering prints how many events per second reach a receiver.
func delivering(w io.Writer, rounds int, window time.Duration) {
	r := listen()
	defer r.close()
	rate, lost := newTable(), newTable()
	round(rounds, func(i int) {
		if !peers[i].sink {
			return
		}
		perSecond, gone := deliver(r, peers[i].queues(r, 8), window)
		rate.add(i, perSecond)
		lost.add(i, gone)
	})
	fmt.Fprintf(w, "\nDelivered over loopback HTTP, 8 producers: million events a second, and as multiples of %s in "+
		"the same round\n", ours)
	fmt.Fprintf(w, "  %-24s %9s %9s %9s %9s %7s\n", "", "median", "least", "× median", "× least", "lost %")
	for i, p := range peers {
		if p.sink {
			fmt.Fprintf(w, "  %-24s %9.2f %9.2f %9.2f %9.2f %7.1f\n", p.name, rate.median(i)/1e6, rate.least(i)/1e6,
				rate.ratio(i), rate.leastRatio(i), 100*lost.median(i))
		}
	}
}
