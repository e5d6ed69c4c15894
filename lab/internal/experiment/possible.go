package experiment

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/server/route"
)

// possible refuses settings that no trial could combine.
func (x *Experiment) possible(s setting.Levels) error {
	server := x.Server(s)
	if done, err := possibleBatches(server, s); done {
		return err
	}
	if done, err := possibleStreams(server, s); done {
		return err
	}
	// Some settings exist only to describe published runs.
	if r, ok := s[setting.Route]; ok && !setting.IsPath(r) {
		return fmt.Errorf("the lab requests one path at a time, and not %s", r)
	} else if ok && server.Answers != "" {
		if routes := route.Paths(server.Answers == setting.Null); !slices.Contains(routes, r.String()) {
			return fmt.Errorf("the %s server has no route %q; %s", server.Name, r, strict.Instead(r.String(), routes))
		}
	}
	switch g := Generator(s); g {
	case setting.HTTPLoad:
	case setting.Autocannon:
		if server.Answers == "" {
			return fmt.Errorf("beside autocannon the lab compares answers only with those that it knows, and the %s server's "+
				"are its own; use http_load", server.Name)
		}
	case setting.Fortio:
		return errors.New("the lab does not run fortio any more; use http_load or autocannon")
	default:
		return fmt.Errorf("the lab does not run %s; use http_load or autocannon", g)
	}
	if name := server.lacks(s); name != "" {
		return fmt.Errorf("the %s server has no %s", server.Name, name)
	}
	if stack, ok := s[setting.Stack]; ok && stack != setting.String(setting.Fiber) &&
		s[setting.Prefork] != setting.Bool(false) {
		return fmt.Errorf("%s has no prefork; set prefork = false", stack)
	}
	overload, _ := s[setting.Overload].Bool()
	if rate, _ := s[setting.Rate].Int(); overload && rate == 0 {
		return errors.New("overload needs a rate: a closed loop asks for none")
	}
	return nil
}

// batching has the settings of an event producer and its receiver. They share
// only server, generator and replicate with other trials.
var batching = []string{
	setting.Variant, setting.EventRate, setting.Pacing, setting.EventBytes, setting.BatchEvents, setting.FlushMs,
	setting.QueueEvents, setting.Stagger, setting.Attempts, setting.SinkLatencyMs, setting.SinkErrors,
}

// producers names a shared server that sends events.
func producers() string {
	if s, ok := strict.Find(Shared(), func(s *Server) bool { return s.Events }); ok {
		return s.Name
	}
	return "a producer of events"
}

// possibleBatches refuses what an event producer cannot do, and settings that
// only a producer has. done says that nothing else needs to be checked.
func possibleBatches(server *Server, s setting.Levels) (done bool, err error) {
	sends, receives := server.Events, s[setting.Generator] == setting.String(setting.Sink)
	if sends != receives {
		return true, fmt.Errorf("server = %q and generator = %q belong together", producers(), setting.Sink)
	}
	switch lacks, foreign := apart(s, sends, batching); {
	case lacks != "":
		return true, fmt.Errorf("a producer of events has no %s", lacks)
	case foreign != "":
		return true, fmt.Errorf("%s is a producer's; set server = %q and generator = %q", foreign, producers(), setting.Sink)
	case !sends:
		return false, nil
	}
	switch variant := s[setting.Variant].String(); {
	case s[setting.Stagger] == setting.Bool(true) && !strings.HasPrefix(variant, "pool-"):
		return true, fmt.Errorf("stagger is about a pool's workers, and variant = %q has none", variant)
	case s[setting.EventRate] == setting.Int(0) && s[setting.Pacing] == setting.String("ticker"):
		return true, errors.New("event_rate = 0 looks for the limit, which takes pacing = \"open\"")
	}
	if n, ok := s[setting.EventBytes].Int(); ok && !slices.Contains(setting.EventSizes, n) {
		return true, fmt.Errorf("event_bytes = %d; use 64, 256, 1024 or 4096", n)
	}
	if n, _ := s[setting.SinkErrors].Int(); n > 1000 {
		return true, fmt.Errorf("sink_errors_permille = %d is more than all", n)
	}
	return true, nil
}

// streaming has the settings of a server of event streams and its readers.
var streaming = []string{setting.Likes, setting.Writers}

// possibleStreams refuses what readers of streams cannot do, and settings that only they have.
// done says that nothing else needs to be checked.
func possibleStreams(server *Server, s setting.Levels) (done bool, err error) {
	reads := s[setting.Generator] == setting.String(setting.Readers)
	if server.Streams != reads {
		return true, fmt.Errorf("generator = %q reads the streams of a server with streams = true, and of no other; %s is %q",
			setting.Readers, setting.Server, server.Name)
	}
	switch lacks, foreign := apart(s, reads, streaming, setting.Connections); {
	case lacks != "":
		return true, fmt.Errorf("readers of streams have no %s", lacks)
	case foreign != "":
		return true, fmt.Errorf("%s is for readers of streams; set generator = %q", foreign, setting.Readers)
	}
	return reads, nil
}

// apart names the first setting that keeps a trial apart from those of a kind: one that the kind, if the trial is
// of it, lacks, or one of the kind's own, if it is not. Further settings the kind shares with other trials.
func apart(s setting.Levels, of bool, own []string, shares ...string) (lacks, foreign string) {
	shares = append(shares, setting.Server, setting.Generator, setting.Replicate)
	for _, name := range slices.Sorted(maps.Keys(s)) {
		switch its := slices.Contains(own, name); {
		case of && !its && !slices.Contains(shares, name):
			return name, ""
		case !of && its:
			return "", name
		}
	}
	return "", ""
}
