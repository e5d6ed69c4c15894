package run

import (
	"time"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// producer gives the options of the event producer that are not one flag a
// setting.
func producer(s setting.Levels) []string {
	var argv []string
	// A receiver that searches for the limit sets the rate itself.
	if v, ok := s[setting.EventRate]; ok && v != setting.Int(0) {
		argv = append(argv, "--event-rate", v.String())
	}
	if v, ok := s[setting.Stagger]; ok {
		argv = append(argv, "--stagger="+v.String())
	}
	// Only the library's variant retries a batch.
	if v, ok := s[setting.Attempts]; ok && s[setting.Variant] == setting.String(setting.Library) {
		argv = append(argv, "--attempts", v.String())
	}
	return argv
}

// searches tells whether the receiver searches for the limit, since no rate is set.
func searches(s setting.Levels) bool { return s[setting.EventRate] == setting.Int(0) }

// receiver is the command line of the sink, which receives the batches.
func receiver(addr string, s setting.Levels, warmup, counts time.Duration) []string {
	argv := []string{scriptPath("sink.sh"), "--producer", "http://" + addr, "--duration", number(counts.Seconds()), "--warmup", number(warmup.Seconds())}
	argv = append(argv, options(setting.Sink, s)...)
	if searches(s) {
		argv = append(argv, "--find-limit")
	}
	return argv
}

// searchGrace is how long a receiver may take to search for the limit and to try up to
// eight rates for a whole window, each after the producer has recovered.
const searchGrace = 90 * time.Second

// graceOf is how long a client may take beyond its load.
func graceOf(s setting.Levels) time.Duration {
	if searches(s) {
		return searchGrace
	}
	return grace
}

// perEvent adds the CPU time per event where the trial was about events. The
// measured figure is per batch, since each batch is a request.
func perEvent(m map[string]float64) {
	batch, measured := m["server_cpu_per_request_s"]
	if events := m["events_per_batch"]; measured && events > 0 {
		m["server_cpu_per_event_s"] = batch / events
	}
}
