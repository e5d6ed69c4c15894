package contest

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/curve"
	"github.com/line-rate/line-rate/lab/internal/scenario"
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
	LineRate    float64       // bits a second of the shaped wire; 0: loopback
	Different   bool          // whether it goes on although the answers differ
	Ready       time.Duration // how long a server may take to answer
	Rates       []curve.Rate  // of the latency curve; none: not asked
	Why         bool          // whether all are profiled afterwards
	Looks       []Look        // at the servers, before the first block
}

// Running tells whether the servers ran before and keep running.
func (o Options) Running() bool { return o.Servers[0].URL != "" }

// Costed tells whether the servers' CPU time can be read.
func (o Options) Costed() bool { return o.Servers[0].Costed() }

// Check refuses what no comparison can be made with. Requests have been checked where they were read.
func (o Options) Check() error {
	switch {
	case o.Close && o.Pipelining > 1:
		return fmt.Errorf("--pipelining %d: with a new connection for each request there is one in flight; leave it out",
			o.Pipelining)
	case o.Close && o.LineRate > 0:
		return errors.New("--line-rate: over a wire of a line rate connections stay open; leave out --no-keepalive")
	case o.LineRate > 0 && o.Way.TLS && !o.Way.Insecure:
		return errors.New("--line-rate: over a wire servers have another address than their certificates name; add --insecure")
	case o.Connections < 1 || o.Connections > load.MaxConnections/(len(o.Servers)+1):
		return fmt.Errorf("--connections %d: use 1 to %d", o.Connections, load.MaxConnections/(len(o.Servers)+1))
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
	case len(o.Rates) > 0 && o.Rate+int(o.LineRate) > 0:
		return errors.New("--rates has rates of its own, over loopback; leave out --rate and --line-rate")
	case !o.Costed() && o.FailAbove != 0:
		return errors.New("--fail-above judges CPU a request, which cannot be read from a server that is known by its " +
			"address alone; give commands to start, or whose CPU time to read, as NAME=pid:PID@HOST:PORT")
	case !o.Costed() && o.Why:
		return errors.New("--why profiles processes, and a server that is known by its address alone has none here; give " +
			"commands to start, or whose processes to profile, as NAME=pid:PID@HOST:PORT")
	case o.Why && o.LineRate > 0:
		return errors.New("--why profiles servers over loopback, where they cost otherwise than over a wire; leave out --line-rate")
	case o.Running() && o.LineRate != 0:
		return errors.New("--line-rate makes a wire between the lab and servers that it starts; servers that run already " +
			"are not on it")
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

// ParseRate parses a rate such as "500mbit" into bits a second.
func ParseRate(text string) (float64, error) {
	for unit, bits := range map[string]float64{"kbit": 1e3, "mbit": 1e6, "gbit": 1e9} {
		if number, ok := strings.CutSuffix(strings.ToLower(strings.TrimSpace(text)), unit); ok {
			v, err := strconv.ParseFloat(number, 64)
			if v *= bits; err == nil && v >= 1e6 && v <= 100e9 {
				return math.Round(v), nil
			}
		}
	}
	return 0, fmt.Errorf("%q: write 1mbit to 100gbit, as 500mbit", text)
}
