// Package loader is package load with HTTP/2, and in package run with the bodies that the lab's servers may
// answer.
package loader

import (
	"context"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/line-rate/line-rate/lab/load"
	"github.com/line-rate/line-rate/lab/load/h2"
)

// Bodies are those that a server of the lab may answer; nil in a program that knows none.
var Bodies func(t load.Target) (load.Bodies, error)

// Begin prepares the process. Go's runtime can then keep only one core busy; the load asks for
// more as it needs them.
func Begin() { runtime.GOMAXPROCS(1) }

// Run carries out a plan: see load.Run.
func Run(ctx context.Context, p *load.Plan) (*load.Report, error) { return load.Run(ctx, p, options()) }

// Serve carries out turns on an input, one slot a line: see load.Serve.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return load.Serve(ctx, in, out, options())
}

func options() load.Options { return load.Options{Bodies: Bodies, HTTP2: h2.New, Version: version()} }

// version says from which commit this program was built.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value[:min(12, len(s.Value))]
			}
		}
	}
	return "unknown"
}
