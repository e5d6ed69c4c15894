package measure

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/load"
	"github.com/line-rate/line-rate/lab/load/h2"
)

// The calls with which a measuring program starts itself anew; their first word is none of its
// commands.
const (
	clientCall = "client" // see load.Serve
	// HoldCall COMMAND… holds a server: see proc.Hold.
	HoldCall = "hold-server"
	pinCall  = "on-cpus" // LIST COMMAND…: puts the command on some cores
	// HOST:PORT: serves there, the same to each request.
	referenceCall = "serve-reference"
)

// OnCPUs is a command that puts another one on some cores, or wherever it is put if there are none.
// self is a program that answers the calls.
func OnCPUs(self []string, cpus []int, argv ...string) []string {
	if len(cpus) == 0 {
		return argv
	}
	return slices.Concat(self, []string{pinCall, machine.Format(cpus)}, argv)
}

// Reference is a server on some cores whose cost does not depend on its age.
func Reference(self []string, on []int, addr string) *Command {
	return &Command{Label: "reference", Argv: slices.Concat(self, []string{referenceCall, addr}), Dir: "/", On: on, At: addr,
		Within: 10 * time.Second, Self: self, Link: Loopback{}}
}

// Answer carries out a call of the program to itself; false for any other. The words behind it may
// be another program's, so main asks here before it reads any.
func Answer(args []string) (status int, is bool) {
	var err error
	status = 1
	switch {
	case len(args) > 1 && args[0] == HoldCall:
		return proc.Hold(args[1:], os.Stdin, os.Stderr), true
	case len(args) == 1 && args[0] == clientCall:
		ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
		defer cancel()
		load.Begin()
		err = load.Serve(ctx, os.Stdin, os.Stdout, load.Options{HTTP2: h2.New})
	case len(args) > 2 && args[0] == pinCall:
		var cpus []int
		if cpus, err = machine.Parse(args[1]); err == nil {
			err = proc.Become(cpus, args[2:])
		}
		status = proc.NotFound
	case len(args) == 2 && args[0] == referenceCall:
		err = http.ListenAndServe(args[1], http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "an answer") }))
	default:
		return 0, false
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, strict.Lines(err.Error()))
		return status, true
	}
	return 0, true
}
