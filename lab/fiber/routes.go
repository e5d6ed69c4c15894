package main

import (
	"encoding/json"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

// The roles of a process that answers requests.
const (
	roleWorker = "worker"
	roleSingle = "single"
)

// Health is the answer of /healthz. GOMAXPROCS is there because Fiber changes
// it in a worker, which entry 10 is about.
type Health struct {
	Status     string `json:"status"`
	PID        int    `json:"pid"`
	Role       string `json:"role"`
	GOMAXPROCS int    `json:"gomaxprocs"`
	Stack      string `json:"stack"`
	Index      string `json:"index"`
	PoolDigest string `json:"pool_digest"`
}

// newSource returns the source that the index setting names.
func newSource(index string) catalog.Source {
	if index == indexGofakeit {
		return catalog.Faker{}
	}
	return catalog.NewWalk(catalog.Seed)
}

// A service is what the routes need, and the stack that serves them.
type service struct {
	stack stack
	pool  *catalog.Pool
	src   catalog.Source

	// leaving is set when this process is to stop; see drain.
	leaving atomic.Bool
}

// A route is a path, the content encoding of its answers, and the function that makes
// their bodies.
type route struct {
	path     string
	encoding string // empty: none
	body     func() ([]byte, error)
}

// newService returns a service that is ready to listen.
func newService(s Settings, role string, pool *catalog.Pool, src catalog.Source) *service {
	v := &service{pool: pool, src: src}
	v.stack = newStack(s, v, v.routes(s, role))
	return v
}

// routes lists the routes: those of the catalogue, and /healthz. They are the same for
// every stack.
func (v *service) routes(s Settings, role string) []route {
	var all []route
	for _, r := range catalog.Routes() {
		all = append(all, route{r.Path, r.Encoding, v.bodies(r)})
	}
	return append(all, route{"/healthz", "", func() ([]byte, error) {
		return json.Marshal(Health{
			Status:     "ok",
			PID:        os.Getpid(),
			Role:       role,
			GOMAXPROCS: runtime.GOMAXPROCS(0),
			Stack:      s.Stack,
			Index:      s.Index,
			PoolDigest: v.pool.Digest(),
		})
	}})
}

// bodies returns the function that makes the bodies of a route.
func (v *service) bodies(r catalog.Route) func() ([]byte, error) {
	switch {
	case r.Make != nil:
		return func() ([]byte, error) { return r.Make(v.pool, v.src) }
	case r.Fixed != nil:
		return func() ([]byte, error) { return r.Fixed, nil }
	}
	return func() ([]byte, error) { return r.Body(v.pool, v.src.Next()), nil }
}

// spin keeps a processor busy for d. It checks the wall clock, because reading the
// thread's CPU time takes a system call; so a thread that is descheduled meanwhile uses
// less CPU time than d.
func spin(d time.Duration) {
	for began := time.Now(); time.Since(began) < d; {
	}
}

// problem is the body of an answer other than success, in JSON like all others.
func problem(text string) []byte {
	body, err := json.Marshal(map[string]string{"error": text})
	if err != nil {
		return nil // a string always marshals
	}
	return body
}
