// Package loader is package load with HTTP/2.
package loader

import (
	"context"
	"io"
	"runtime"

	"github.com/line-rate/line-rate/lab/load"
	"github.com/line-rate/line-rate/lab/load/h2"
)

var options = load.Options{HTTP2: h2.New}

// Begin prepares the process. Go's runtime can then keep only one core busy; the load asks for
// more as it needs them.
func Begin() { runtime.GOMAXPROCS(1) }

// Run carries out a plan: see load.Run.
func Run(ctx context.Context, p *load.Plan) (*load.Report, error) { return load.Run(ctx, p, options) }

// Serve carries out turns on an input, one slot a line: see load.Serve.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return load.Serve(ctx, in, out, options)
}
