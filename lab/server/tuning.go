package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v3"
)

// A tuning is one thing that Fiber, fasthttp or the handlers do otherwise than as they
// come: one step of the study of what such settings give. They are steps to measure, and
// no advice. The server's default has none, since the published texts had none.
type tuning struct {
	name, about string
	config      func(*fiber.Config) // nil: the handlers look for the name
}

// The tunings of the handlers.
const (
	tuneCopiedBody  = "copied-body"
	tuneHeaderBytes = "header-bytes"
	tuneNoRouter    = "no-router"
)

// smallReadBuffer holds a request without cookies several times.
const smallReadBuffer = 1024

var tunings = []tuning{
	{tuneCopiedBody, "a body is copied into the answer, where Fiber's Send only refers to it", nil},
	{tuneHeaderBytes, "the content type is set from bytes in place of a string", nil},
	{"immutable", "Fiber copies what it takes from a request, its path for one",
		func(c *fiber.Config) { c.Immutable = true }},
	{"no-date", "answers have no Date, which makes their heads 37 bytes shorter",
		func(c *fiber.Config) { c.DisableDefaultDate = true }},
	{tuneNoRouter, "the handler of --stack=fasthttp answers in Fiber's server, without Fiber's router and context", nil},
	{"raw-headers", "names of headers stay as they are written",
		func(c *fiber.Config) { c.DisableHeaderNormalizing = true }},
	{"reduce-memory", "connections hold no buffers between requests",
		func(c *fiber.Config) { c.ReduceMemoryUsage = true }},
	{"small-read-buffer", fmt.Sprintf("a connection's read buffer has %d bytes in place of %d", smallReadBuffer, fiber.DefaultReadBufferSize), func(c *fiber.Config) { c.ReadBufferSize = smallReadBuffer }},
	{"strict-routes", "paths are matched as written, with their case and a slash at the end",
		func(c *fiber.Config) { c.StrictRouting, c.CaseSensitive = true, true }},
}

// has tells whether a tuning was asked for.
func (s settings) has(name string) bool { return slices.Contains(strings.Split(s.tunings, ","), name) }

// tune takes names of tunings, joined by commas.
func (s *settings) tune(names string) error {
	for name := range strings.SplitSeq(names, ",") {
		if !slices.ContainsFunc(tunings, func(one tuning) bool { return one.name == name }) {
			return errors.New("give names from its list of tunings, joined by commas")
		}
	}
	s.tunings = names
	return nil
}

// configure makes the changes that are Fiber's or fasthttp's own settings.
func (s settings) configure(c *fiber.Config) {
	for _, one := range tunings {
		if one.config != nil && s.has(one.name) {
			one.config(c)
		}
	}
}
