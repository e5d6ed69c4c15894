package main

import (
	"context"
	"net"
	"time"

	"github.com/valyala/fasthttp"
)

// A fastStack is fasthttp alone, without the router and context that Fiber adds to it.
type fastStack struct {
	server *fasthttp.Server
}

func newFastHTTP(s Settings, v *service, routes []route) *fastStack {
	bodies := make(map[string]func() ([]byte, error))
	for _, r := range routes {
		bodies[r.path] = r.body
	}
	d := time.Duration(s.SpinNs)
	return &fastStack{&fasthttp.Server{
		WriteBufferSize: s.WriteBuffer,
		CloseOnShutdown: true, // as under Fiber
		// Fiber sends no such header either, and the sizes of answers are compared.
		NoDefaultServerHeader: true,
		Handler: func(c *fasthttp.RequestCtx) {
			if d > 0 {
				spin(d)
			}
			c.SetContentType("application/json")
			if v.leaving.Load() {
				c.SetConnectionClose()
			}
			body, known := bodies[string(c.Path())]
			switch {
			case !known:
				c.SetStatusCode(fasthttp.StatusNotFound)
				c.Response.SetBodyRaw(problem("no such route"))
			case !c.IsGet() && !c.IsHead():
				c.SetStatusCode(fasthttp.StatusMethodNotAllowed)
				c.Response.SetBodyRaw(problem("method not allowed"))
			default:
				b, err := body()
				if err != nil {
					c.SetStatusCode(fasthttp.StatusInternalServerError)
					b = problem(err.Error())
				}
				c.Response.SetBodyRaw(b) // not copied, as under Fiber
			}
		},
	}}
}

func (f *fastStack) serve(ln net.Listener) error { return f.server.Serve(ln) }

func (f *fastStack) open() int { return int(f.server.GetOpenConnectionsCount()) }

func (f *fastStack) shutdown(patience time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = f.server.ShutdownWithContext(ctx) // the patience was over; see fiberStack
}
