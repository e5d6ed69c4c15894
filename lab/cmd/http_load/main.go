// Command http_load is the load generator of the lab's runs: package load on standard input and output, with
// the bodies that the lab's servers may answer. It is a program of its own so that what is measured with
// changes only where the generator does.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/line-rate/line-rate/lab/internal/answer"
	"github.com/line-rate/line-rate/lab/load"
)

func main() {
	if len(os.Args) != 2 || os.Args[1] != "client" {
		fmt.Fprintln(os.Stderr, "http_load: lab run starts it with a plan on its input; to load a server yourself: linerate load URL")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	load.Begin()
	known := func(t load.Target) (load.Bodies, error) { return answer.Of(t.Answers, t.Requests[0].Path) }
	if err := load.Serve(ctx, os.Stdin, os.Stdout, load.Options{Bodies: known}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}
