package main

import (
	"os"

	"github.com/line-rate/line-rate/lab/internal/profile/endpoint"
	"github.com/line-rate/line-rate/lab/internal/program"
)

// startPprof turns profiles on if the settings say so, and serves them until the process
// ends or the returned function is called. If it fails, it prints why and returns the
// exit code.
func startPprof(s Settings) (stop func(), code int) {
	rates := endpoint.Rates{MutexFraction: s.MutexFraction, BlockRateNs: s.BlockRateNs}
	switch {
	case s.Pprof:
		ln, code := listen(s.PprofAddr, "pprof-addr")
		if code != program.OK {
			return nil, code
		}
		return endpoint.ServeOn(ln, rates, say), program.OK
	case s.PprofSockets != "":
		stop, err := endpoint.Serve(s.PprofSockets, rates, say)
		if err != nil {
			say("pprof pid=%d: --pprof-sockets: %v", os.Getpid(), err)
			return nil, program.Failure
		}
		return stop, program.OK
	default:
		return func() {}, program.OK
	}
}
