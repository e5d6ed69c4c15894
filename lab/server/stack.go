package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/valyala/fasthttp"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

// The stacks: the software between a connection and the body of an answer. All answer with the same bytes,
// except for the order of the header lines, so that two stacks differ only in their own work. They have no
// middleware on purpose: it would be in every figure. A handler that spins is added only when asked for.
const (
	stackFiber    = "fiber"
	stackFastHTTP = "fasthttp"
	stackNetHTTP  = "net-http"
)

// A stack serves the routes.
type stack struct {
	// serve answers the connections of a listener, until the stack is shut down.
	serve func(net.Listener) error
	// shutdown takes no more connections and waits for the requests under way.
	shutdown func(context.Context) error
	app      *fiber.App // of Fiber, which alone can serve as one of a master's workers
}

// A path is a route of the catalogue, with the function that makes its bodies.
type path struct {
	catalog.Route
	body func() ([]byte, error)
}

// answer makes the answer to a request, which may only read.
func (p *path) answer(reads bool) (code int, encoding string, body []byte) {
	if !reads {
		return http.StatusMethodNotAllowed, "", problem("method not allowed")
	}
	body, err := p.body()
	if err != nil {
		return http.StatusInternalServerError, "", problem(err.Error())
	}
	return http.StatusOK, p.Encoding, body
}

func paths(s settings, pool *catalog.Pool) (all []path) {
	var src catalog.Source = catalog.Faker{}
	if s.index == indexPool {
		src = catalog.NewWalk(catalog.Seed)
	}
	for _, r := range catalog.Routes() {
		p := path{Route: r, body: func() ([]byte, error) { return r.Fixed, nil }}
		switch {
		case r.Make != nil:
			p.body = func() ([]byte, error) { return r.Make(pool, src) }
		case r.Body != nil:
			p.body = func() ([]byte, error) { return r.Body(pool, src.Next()), nil }
		}
		all = append(all, p)
	}
	return all
}

// newStack makes the stack that the settings name.
func newStack(s settings, pool *catalog.Pool) stack {
	all := paths(s, pool)
	switch s.stack {
	case stackFastHTTP:
		srv := newFastHTTP(s, all)
		return stack{serve: srv.Serve, shutdown: srv.ShutdownWithContext}
	case stackNetHTTP:
		srv := &http.Server{Handler: newNetHTTP(s, all)}
		return stack{serve: srv.Serve, shutdown: srv.Shutdown}
	}
	app := newFiber(s, all)
	return stack{app: app, shutdown: app.ShutdownWithContext, serve: func(ln net.Listener) error {
		return app.Listener(ln, fiber.ListenConfig{DisableStartupMessage: true})
	}}
}

// newFiber makes the application that most experiments load.
func newFiber(s settings, all []path) *fiber.App {
	// The type has no charset parameter, as in the published runs; Fiber's own JSON method would add one.
	copies, fromBytes, contentType := s.has(tuneCopiedBody), s.has(tuneHeaderBytes), []byte(catalog.ContentType)
	answer := func(c fiber.Ctx, body []byte) error {
		header := &c.Response().Header
		if fromBytes {
			header.SetContentTypeBytes(contentType)
		} else {
			header.SetContentType(catalog.ContentType)
		}
		if copies {
			c.Response().SetBody(body)
			return nil
		}
		return c.Send(body) // not copied
	}
	config := fiber.Config{AppName: "fiber_server", WriteBufferSize: s.writeBuffer,
		ErrorHandler: func(c fiber.Ctx, err error) error { // of requests that no route matches
			code := fiber.StatusInternalServerError
			if e, ok := errors.AsType[*fiber.Error](err); ok {
				code = e.Code
			}
			c.Status(code)
			return answer(c, problem(err.Error()))
		}}
	s.configure(&config)
	app := fiber.New(config)
	// Without it, a shutdown can drop responses to pipelined requests before they are flushed.
	app.Server().CloseOnShutdown = true
	if s.spinNs > 0 {
		app.Use(func(c fiber.Ctx) error {
			spin(s.spinNs)
			return c.Next()
		})
	}
	for _, p := range all {
		app.Get(p.Path, func(c fiber.Ctx) error {
			body, err := p.body()
			if err != nil {
				return err
			}
			if p.Encoding != "" {
				c.Response().Header.SetContentEncoding(p.Encoding)
			}
			return answer(c, body)
		})
	}
	if s.has(tuneNoRouter) {
		app.Server().Handler = newFastHTTP(s, all).Handler
	}
	return app
}

// newFastHTTP makes a server of fasthttp alone, without the router and context that Fiber adds to it.
func newFastHTTP(s settings, all []path) *fasthttp.Server {
	known := make(map[string]*path)
	for _, p := range all {
		known[p.Path] = &p
	}
	return &fasthttp.Server{
		WriteBufferSize: s.writeBuffer,
		CloseOnShutdown: true, // as under Fiber
		// Fiber sends no such header either, and the sizes of answers are compared.
		NoDefaultServerHeader: true,
		Handler: func(c *fasthttp.RequestCtx) {
			spin(s.spinNs)
			code, encoding, body := fasthttp.StatusNotFound, "", noRoute
			if p, ok := known[string(c.Path())]; ok {
				code, encoding, body = p.answer(c.IsGet() || c.IsHead())
			}
			if encoding != "" {
				c.Response.Header.SetContentEncoding(encoding)
			}
			c.SetContentType(catalog.ContentType)
			c.SetStatusCode(code)
			c.Response.SetBodyRaw(body) // not copied, as under Fiber
		},
	}
}

// newNetHTTP makes a handler of Go's own net/http. Its write buffer is 4,096 bytes, which is also the default
// of the other stacks. When it is shut down it drops requests whose heads are not complete, where the other
// stacks answer them.
func newNetHTTP(s settings, all []path) http.Handler {
	answer := func(w http.ResponseWriter, code int, encoding string, body []byte) {
		header := w.Header()
		if encoding != "" {
			header.Set("Content-Encoding", encoding)
		}
		header.Set("Content-Type", catalog.ContentType)
		// Without a length net/http would send bodies above 2 KB in chunks.
		header.Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(code)
		_, _ = w.Write(body) // an error means that the client has gone; the next read reports it
	}
	mux := http.NewServeMux()
	for _, p := range all {
		mux.HandleFunc(p.Path, func(w http.ResponseWriter, req *http.Request) {
			spin(s.spinNs)
			code, encoding, body := p.answer(req.Method == http.MethodGet || req.Method == http.MethodHead)
			answer(w, code, encoding, body)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusNotFound, "", noRoute)
	})
	return mux
}

// spin keeps a processor busy. It checks the wall clock, because reading the thread's CPU time takes a system
// call; so a thread that is descheduled meanwhile uses less CPU time than that.
func spin(ns int) {
	if ns == 0 {
		return // without a look at the clock, which costs too
	}
	for began := time.Now(); time.Since(began) < time.Duration(ns); {
	}
}

// problem is the body of an answer other than success, in JSON like all others.
func problem(text string) []byte {
	body, _ := json.Marshal(map[string]string{"error": text}) // a string always marshals
	return body
}

var noRoute = problem("no such route")
