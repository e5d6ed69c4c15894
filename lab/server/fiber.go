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
}

func newFiber(s Settings, v *service, routes []route) *fiberStack {
	f := &fiberStack{v: v}
	f.app = fiber.New(fiber.Config{
		AppName:         "fiber_server",
		WriteBufferSize: s.WriteBuffer,
		ErrorHandler:    f.answerError,
	})
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
	return f
}

// answer sends body without copying it. The type has no charset parameter, as in the
// published runs; Fiber's own JSON method would add one, 15 bytes.
func (f *fiberStack) answer(c fiber.Ctx, body []byte) error {
	header := &c.Response().Header
	header.SetContentType(catalog.ContentType)
	if f.v.leaving.Load() {
		header.SetConnectionClose()
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
