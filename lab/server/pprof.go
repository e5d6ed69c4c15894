package main

import (
	"os"

	"github.com/line-rate/line-rate/lab/internal/pprofsock"
)

// startPprof turns profiles on if the settings say so, and serves them until
// the process ends or the returned function is called. If it fails it says so
// and returns the exit code.
func startPprof(s Settings) (stop func(), code int) {
	rates := pprofsock.Rates{MutexFraction: s.MutexFraction, BlockRateNs: s.BlockRateNs}
	switch {
	case s.Pprof:
		ln, code := listen(s.PprofAddr, "pprof-addr")
		if code != exitOK {
			return nil, code
		}
		return pprofsock.ServeOn(ln, rates, say), exitOK
	case s.PprofSockets != "":
		stop, err := pprofsock.Serve(s.PprofSockets, rates, say)
		if err != nil {
			say("pprof pid=%d: --pprof-sockets: %v", os.Getpid(), err)
			return nil, exitFailure
		}
		return stop, exitOK
	default:
		return func() {}, exitOK
	}
}
