package main

import (
	"os"

	"github.com/line-rate/line-rate/lab/server/catalog"
)

// runSingle serves in this process alone.
func runSingle(s Settings) int {
	stop := stopSignals()

	// Both addresses are taken before any work is done on them.
	ln, code := listen(s.Addr, "addr")
	if code != exitOK {
		return code
	}
	stopPprof, code := startPprof(s)
	if code != exitOK {
		return code
	}
	defer stopPprof()

	pool, err := catalog.NewPool(catalog.Seed)
	if err != nil {
		say("%v", err)
		return exitFailure
	}
	srv := newService(s, roleSingle, pool, newSource(s.Index))
	served := make(chan error, 1)
	go func() { served <- srv.stack.serve(ln) }()
	say("single pid=%d listening addr=%s", os.Getpid(), ln.Addr())

	select {
	case <-stop:
		stopPprof()
		srv.drain()
		return exitOK
	case err := <-served:
		say("serve: %v", err)
		return exitFailure
	}
}
