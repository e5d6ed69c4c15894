package bench

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/scenario"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/load"
)

// Options say what is compared, under which load, and when it is decided.
type Options struct {
	Path        string // requested of each server, with its query, if there are no requests
	Requests    []load.Request
	Close       bool // a new connection for each request
	Way         scenario.Way
	Servers     []Server
	Connections int // to each server
	Pipelining  int // requests in flight on each connection
	Rate        int // requests a second; 0: a closed loop
	Budget      time.Duration
	Warmup      time.Duration // load on each freshly started server before its first slot
	Steady      bool          // that load lasts until the server is steady, in place of Warmup
	Margin      float64       // as a share: 0.03 is "same within 3 %"
	FailAbove   float64       // ratio of CPU a request; 0: not asked
	Different   bool          // whether it goes on although the answers differ
	Ready       time.Duration // how long a server may take until it answers as expected
	Prepare     []string      // a command before each start; empty: none
	Rates       []Rate        // of the latency curve; none: not asked
	Why         bool          // whether all are profiled afterwards
}

// Running tells whether the servers ran before and keep running.
func (o Options) Running() bool { return o.Servers[0].URL != "" }

// Costed tells whether the servers' CPU time can be read.
func (o Options) Costed() bool { return o.Servers[0].Costed() }

// level is the error that one interval may have: those of a metric share it.
func (o Options) level() float64 { return stats.Alpha / float64(len(o.Servers)-1) }

// Check refuses what no comparison can be made with. Requests have been checked where they were read.
func (o Options) Check() error {
	most := load.MaxConnections / (len(o.Servers) + 1)
	switch {
	case o.Close && o.Pipelining > 1:
		return fmt.Errorf("--pipelining %d: with a new connection for each request there is one in flight; leave it out",
			o.Pipelining)
	case o.Connections < 1 || o.Connections > most:
		return fmt.Errorf("--connections %d: use 1 to %d", o.Connections, most)
	case o.Pipelining < 1 || o.Pipelining > load.MaxPipelining:
		return fmt.Errorf("--pipelining %d: use 1 to %d", o.Pipelining, load.MaxPipelining)
	case o.Rate < 0 || o.Rate > load.MaxRate:
		return fmt.Errorf("--rate %d: use 1 to %d requests a second, or leave it out for a closed loop", o.Rate, load.MaxRate)
	case !(o.Margin > 0 && o.Margin < 1):
		return errors.New("--margin: use more than 0 % and less than 100 %, as 3%")
	case o.Ready <= 0 || o.Ready > 10*time.Minute:
		return fmt.Errorf("--ready %v: use more than 0s and up to 10m", o.Ready)
	case o.FailAbove != 0 && !(o.FailAbove >= 0.01 && o.FailAbove <= 100):
		return fmt.Errorf("--fail-above %v: give the ratio of CPU a request to the first server's, as 1.05", o.FailAbove)
	case o.Warmup < 0 || o.Warmup > time.Minute:
		return fmt.Errorf("--warmup %v: use up to 1m", o.Warmup)
	case len(o.Rates) > 0 && o.Rate > 0:
		return errors.New("--rates has rates of its own; leave out --rate")
	case o.Running() && len(o.Prepare) > 0:
		return errors.New("--prepare runs before a server is started, and these run already; leave it out")
	case !o.Costed() && (o.FailAbove != 0 || o.Why):
		return errors.New("--fail-above and --why need the servers' processes, and an address alone has none here; give " +
			"commands to start, or NAME=pid:PID@HOST:PORT")
	}
	return nil
}

// ParseShare parses a share such as "3%" or "0.03".
func ParseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || math.IsNaN(v) || !(v > 0 && v < 1) {
		return 0, fmt.Errorf("%q: write a share above 0 and below 100 %%, as 3%% or 0.03", text)
	}
	return v, nil
}
