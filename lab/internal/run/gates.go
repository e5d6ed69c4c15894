package run

import "github.com/line-rate/line-rate/lab/internal/generator"

// The gates that make a trial invalid. None looks at how fast the trial was.
const (
	gateErrors       = generator.Errors
	gateTimeouts     = generator.Timeouts
	gateResets       = generator.Resets
	gateLostWorker   = "lost-worker"   // a worker ended, or was not there
	gateServerExited = "server-exited" // the server ended in mid-trial
	gateClientFailed = "client-failed" // the load generator ended with an error
	gateClientHung   = "client-hung"   // the load generator did not end
	gateNoTelemetry  = "no-telemetry"  // the trial's cost was not seen
)
