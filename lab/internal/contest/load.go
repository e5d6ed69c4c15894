package contest

import (
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/load"
)

// A Client is where the load generator runs.
type Client struct {
	Lab  []string // the command that starts this program anew: see run.Called
	CPUs []int    // empty: wherever it is put
	// ServerCPUs are where the servers run that it starts; empty: wherever they are put.
	ServerCPUs []int
}

// target is a server as the generator is told of it.
func (o Options) target(s Server, addr string) load.Target {
	return o.Way.Of(run.At(load.Target{Name: s.Name, Connections: o.Connections, Pipelining: o.Pipelining,
		Rate: float64(o.Rate), Requests: o.Requests, Close: o.Close}, addr, o.Path))
}

// fault says what went wrong with a target, in its own words; empty if nothing
// did.
func fault(t load.TargetSummary) string {
	switch {
	case t.Errors+t.Timeouts+t.Resets+t.Non2xx > 0:
		return t.Fault
	case t.Mismatches > 0:
		return t.Mismatch
	case t.Requests == 0:
		return "no request was answered"
	}
	return ""
}
