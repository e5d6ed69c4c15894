package compare

import (
	"fmt"
	"math"
	"strings"
)

// Event is the Unit of an Outcome where streams of events were compared.
const Event = "event"

// A Stream is what the streams of one server came to, in its valid trials.
type Stream struct {
	Events    float64  `json:"events"`
	Lost      *float64 `json:"lost_events,omitempty"` // ids that a stream skipped; absent where not all events have one
	Published bool     `json:"published"`             // whether the events were asked for
	Each      float64  `json:"events_each"`           // of a stream: for each publishing that was asked, else in a second
	P50       float64  `json:"first_event_p50_s"`     // from a stream's opening to its first event
	P99       float64  `json:"first_event_p99_s"`
}

// Unlike says why an event of one server is not the work of an event of the base; empty if it may be: one that
// loses some, or sums up several in one, has less to do for each. Timers of servers differ by more than that.
func (s *Stream) Unlike(base *Stream, name, of string) string {
	if s == nil || base == nil {
		return ""
	}
	lost := func(s *Stream) float64 {
		if s.Lost == nil || *s.Lost == 0 {
			return 0
		}
		return 100 * *s.Lost / (s.Events + *s.Lost)
	}
	const so = ", so an event of one is not the work of an event of the other"
	switch apart := 100 * math.Abs(math.Log(s.Each/base.Each)); {
	case math.Abs(lost(s)-lost(base)) > 1:
		return fmt.Sprintf("%s lost %.1f %% of its events and %s %.1f %%", name, lost(s), of, lost(base)) + so
	case s.Published && apart > 1:
		return fmt.Sprintf("of each publishing %s delivered %.3g events to a stream and %s %.3g", name, s.Each, of,
			base.Each) + so
	case apart > 5:
		return fmt.Sprintf("%s sent %.4g events a second to a stream and %s %.4g", name, s.Each, of, base.Each) + so +
			"; --publish has both send alike"
	}
	return ""
}

// In says of the unit of an outcome what is said of requests.
func (o *Outcome) In(says string) string {
	if o.Unit != Event {
		return says
	}
	return strings.NewReplacer("a request", "an event", "requests/s", "events/s").Replace(says)
}
