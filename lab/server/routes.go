package main

import (
	"encoding/json"
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v3"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

// The roles of a process that answers requests.
const (
	roleWorker = "worker"
	roleSingle = "single"
)

// simpleBody with Fiber's header makes a response of 124 bytes, which is what
// entry 05's bytes over its requests come to.
var simpleBody = []byte(`{"message":"hi"}`)

// Health is the answer of /healthz. GOMAXPROCS is there because Fiber changes
// it in a worker, which entry 10 is about.
type Health struct {
	Status     string `json:"status"`
	PID        int    `json:"pid"`
	Role       string `json:"role"`
	GOMAXPROCS int    `json:"gomaxprocs"`
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

// A service is the application and what its routes answer with.
type service struct {
	app  *fiber.App
	pool *catalog.Pool
	src  catalog.Source

	// leaving is set when this process is to stop; see drain.
	leaving atomic.Bool
}

// newService returns a service that is ready to listen. Middleware is absent on
// purpose: each would be in every figure. The one that burns is there only
// when asked for.
func newService(s Settings, role string, pool *catalog.Pool, src catalog.Source) *service {
	v := &service{pool: pool, src: src}
	v.app = fiber.New(fiber.Config{
		AppName:         "fiber_server",
		WriteBufferSize: s.WriteBuffer,
		ErrorHandler:    v.answerError,
	})
	// fasthttp's own part in what leaving does: without it, once shut down,
	// responses to pipelined requests can be dropped unflushed.
	v.app.Server().CloseOnShutdown = true

	if s.SpinNs > 0 {
		d := time.Duration(s.SpinNs)
		v.app.Use(func(c fiber.Ctx) error {
			spin(d)
			return c.Next()
		})
	}
	v.app.Get("/simple", func(c fiber.Ctx) error {
		return v.answer(c, simpleBody)
	})
	v.app.Get("/read", func(c fiber.Ctx) error {
		return v.answer(c, v.pool.Body(v.src.Next()))
	})
	v.app.Get("/list", func(c fiber.Ctx) error {
		return v.answer(c, v.pool.Batch(v.src.Next()))
	})
	v.app.Get("/compute", func(c fiber.Ctx) error {
		return v.answerJSON(c, catalog.Summarise(v.drawItems()))
	})
	v.app.Get("/healthz", func(c fiber.Ctx) error {
		return v.answerJSON(c, Health{
			Status:     "ok",
			PID:        os.Getpid(),
			Role:       role,
			GOMAXPROCS: runtime.GOMAXPROCS(0),
			Index:      s.Index,
			PoolDigest: v.pool.Digest(),
		})
	})
	return v
}

// spin keeps a processor busy for d. It looks at the clock and not at the time
// the thread ran, which takes a system call to ask; a thread that loses its
// processor meanwhile burns less.
func spin(d time.Duration) {
	for began := time.Now(); time.Since(began) < d; {
	}
}

func (v *service) drawItems() []catalog.Item {
	at := make([]int, catalog.Sample)
	v.src.Fill(at)
	items := make([]catalog.Item, len(at))
	for i, n := range at {
		items[i] = v.pool.Item(n)
	}
	return items
}

// answer sends body without copying it. The type has no charset parameter, as
// in the published runs: Fiber's own JSON method would add 15 bytes.
func (v *service) answer(c fiber.Ctx, body []byte) error {
	header := &c.Response().Header
	header.SetContentType(fiber.MIMEApplicationJSON)
	if v.leaving.Load() {
		header.SetConnectionClose()
	}
	return c.Send(body)
}

func (v *service) answerJSON(c fiber.Ctx, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return v.answer(c, body)
}

// answerError answers what no route does, in JSON as everything else.
func (v *service) answerError(c fiber.Ctx, err error) error {
	code := fiber.StatusInternalServerError
	if e, ok := errors.AsType[*fiber.Error](err); ok {
		code = e.Code
	}
	c.Status(code)
	return v.answerJSON(c, map[string]string{"error": err.Error()})
}
