package main

import (
	"os"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

// runSingle serves in this process alone.
func runSingle(s Settings) int {
	stop := program.Asked()

	// Both addresses are opened before any other work is done.
	ln, code := listen(s.Addr, "addr")
	if code != program.OK {
		return code
	}
	stopPprof, code := startPprof(s)
	if code != program.OK {
		return code
	}
	defer stopPprof()

	pool, err := catalog.NewPool(catalog.Seed)
	if err != nil {
		say("%v", err)
		return program.Failure
	}
	srv := newService(s, roleSingle, pool, newSource(s.Index))
	served := make(chan error, 1)
	go func() { served <- srv.stack.serve(ln) }()
	say("single pid=%d listening addr=%s", os.Getpid(), ln.Addr())

	select {
	case <-stop:
		stopPprof()
		srv.drain()
		return program.OK
	case err := <-served:
		say("serve: %v", err)
		return program.Failure
	}
}
