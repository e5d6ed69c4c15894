package main

import (
	"errors"
	"net"
	"time"

	"github.com/gofiber/fiber/v3"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

// A fiberStack is the Fiber application that most experiments load, and the
// only stack that can fork workers.
type fiberStack struct {
	app *fiber.App
	v   *service

	contentType []byte // set from here if not nil
	copies      bool
}

func newFiber(s Settings, v *service, routes []route) *fiberStack {
	f := &fiberStack{v: v, copies: s.Tuning.has(tuneCopiedBody)}
	if s.Tuning.has(tuneHeaderBytes) {
		f.contentType = []byte(catalog.ContentType)
	}
	config := fiber.Config{
		AppName:         "fiber_server",
		WriteBufferSize: s.WriteBuffer,
		ErrorHandler:    f.answerError,
	}
	s.Tuning.configure(&config)
	f.app = fiber.New(config)
	// The part of leaving that fasthttp does itself: without it, a shutdown can drop
	// responses to pipelined requests before they are flushed.
	f.app.Server().CloseOnShutdown = true

	if s.SpinNs > 0 {
		d := time.Duration(s.SpinNs)
		f.app.Use(func(c fiber.Ctx) error {
			spin(d)
			return c.Next()
		})
	}
	for _, r := range routes {
		f.app.Get(r.path, func(c fiber.Ctx) error {
			body, err := r.body()
			if err != nil {
				return err
			}
			if r.encoding != "" {
				c.Response().Header.SetContentEncoding(r.encoding)
			}
			return f.answer(c, body)
		})
	}
	if s.Tuning.has(tuneNoRouter) {
		f.app.Server().Handler = newFastHTTP(s, v, routes).server.Handler
	}
	return f
}

// answer sends body without copying it. The type has no charset parameter, as in the
// published runs; Fiber's own JSON method would add one, 15 bytes.
func (f *fiberStack) answer(c fiber.Ctx, body []byte) error {
	header := &c.Response().Header
	if f.contentType == nil {
		header.SetContentType(catalog.ContentType)
	} else {
		header.SetContentTypeBytes(f.contentType)
	}
	if f.v.leaving.Load() {
		header.SetConnectionClose()
	}
	if f.copies {
		c.Response().SetBody(body)
		return nil
	}
	return c.Send(body)
}

// answerError answers requests that no route matches.
func (f *fiberStack) answerError(c fiber.Ctx, err error) error {
	code := fiber.StatusInternalServerError
	if e, ok := errors.AsType[*fiber.Error](err); ok {
		code = e.Code
	}
	c.Status(code)
	return f.answer(c, problem(err.Error()))
}

func (f *fiberStack) serve(ln net.Listener) error {
	return f.app.Listener(ln, fiber.ListenConfig{DisableStartupMessage: true})
}

// fork serves as one of a master's workers, with a socket of its own.
func (f *fiberStack) fork(addr string, listening func(net.Addr)) error {
	return f.app.Listen(addr, fiber.ListenConfig{
		EnablePrefork:         true,
		ListenerNetwork:       network(addr),
		DisableStartupMessage: true,
		ListenerAddrFunc:      listening,
	})
}

func (f *fiberStack) open() int { return int(f.app.Server().GetOpenConnectionsCount()) }

func (f *fiberStack) shutdown(patience time.Duration) {
	// The only error is that the patience was over; then there is nothing more to do.
	_ = f.app.ShutdownWithTimeout(patience)
}
