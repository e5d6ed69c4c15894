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
	for _, k := range apart {
		if err := k.fits(server, s); err != nil {
			return err
		}
	}
	switch {
	case server.Events:
		return possibleBatches(s)
	case server.Streams:
		return nil
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

// A load is one that has a generator, a kind of server and settings of its own, and shares few settings with others.
type load struct {
	name, generator, key string // the key marks such a server
	of                   func(*Server) bool
	own, shares          []string
}

var apart = []load{
	{"a producer of events", setting.Sink, "events", func(s *Server) bool { return s.Events }, []string{
		setting.Variant, setting.EventRate, setting.Pacing, setting.EventBytes, setting.BatchEvents, setting.FlushMs,
		setting.QueueEvents, setting.Stagger, setting.Attempts, setting.SinkLatencyMs, setting.SinkErrors,
	}, nil},
	{"a server of streams", setting.Readers, "streams", func(s *Server) bool { return s.Streams },
		[]string{setting.Likes, setting.Writers}, []string{setting.Connections}},
}

// fits refuses a server without its generator, or the other way round, and settings that do not belong together.
func (l load) fits(server *Server, s setting.Levels) error {
	is := l.of(server)
	if is != (s[setting.Generator] == setting.String(l.generator)) {
		return fmt.Errorf("generator = %q and a server with %s = true belong together; server is %q", l.generator, l.key,
			server.Name)
	}
	shares := slices.Concat(l.shares, []string{setting.Server, setting.Generator, setting.Replicate})
	for _, name := range slices.Sorted(maps.Keys(s)) {
		switch its := slices.Contains(l.own, name); {
		case is && !its && !slices.Contains(shares, name):
			return fmt.Errorf("%s has no %s", l.name, name)
		case !is && its:
			return fmt.Errorf("%s is a setting of %s, whose generator is %q", name, l.name, l.generator)
		}
	}
	return nil
}

// possibleBatches refuses what an event producer cannot do.
func possibleBatches(s setting.Levels) error {
	switch variant := s[setting.Variant].String(); {
	case s[setting.Stagger] == setting.Bool(true) && !strings.HasPrefix(variant, "pool-"):
		return fmt.Errorf("stagger is about a pool's workers, and variant = %q has none", variant)
	case s[setting.EventRate] == setting.Int(0) && s[setting.Pacing] == setting.String("ticker"):
		return errors.New("event_rate = 0 looks for the limit, which takes pacing = \"open\"")
	}
	if n, ok := s[setting.EventBytes].Int(); ok && !slices.Contains(setting.EventSizes, n) {
		return fmt.Errorf("event_bytes = %d; use 64, 256, 1024 or 4096", n)
	}
	if n, _ := s[setting.SinkErrors].Int(); n > 1000 {
		return fmt.Errorf("sink_errors_permille = %d is more than all", n)
	}
	return nil
}
