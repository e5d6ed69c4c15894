package main

import (
	"context"
	"net"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

// A fastStack is fasthttp alone, without the router and context that Fiber adds to it.
type fastStack struct {
	server *fasthttp.Server
}

func newFastHTTP(s Settings, v *service, routes []route) *fastStack {
	known := make(map[string]route)
	for _, r := range routes {
		known[r.path] = r
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
			c.SetContentType(catalog.ContentType)
			if v.leaving.Load() {
				c.SetConnectionClose()
			}
			r, ok := known[string(c.Path())]
			switch {
			case !ok:
				c.SetStatusCode(fasthttp.StatusNotFound)
				c.Response.SetBodyRaw(problem("no such route"))
			case !c.IsGet() && !c.IsHead():
				c.SetStatusCode(fasthttp.StatusMethodNotAllowed)
				c.Response.SetBodyRaw(problem("method not allowed"))
			default:
				b, err := r.body()
				switch {
				case err != nil:
					c.SetStatusCode(fasthttp.StatusInternalServerError)
					b = problem(err.Error())
				case r.encoding != "":
					c.Response.Header.SetContentEncoding(r.encoding)
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
