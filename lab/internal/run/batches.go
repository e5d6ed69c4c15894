package run

import (
	"time"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// offered leaves out what a producer of events is not told: no rate, where its
// receiver searches for the limit and sets the rate itself, and no attempts,
// where not the library's variant runs, which alone retries a batch.
func offered(s setting.Levels) setting.Levels {
	if searches(s) {
		s = s.Without(setting.EventRate)
	}
	if s[setting.Variant] != setting.String(setting.Library) {
		s = s.Without(setting.Attempts)
	}
	return s
}

// searches reports whether the receiver searches for the limit, since no rate is set.
func searches(s setting.Levels) bool { return s[setting.EventRate] == setting.Int(0) }

// receiver is the command line of the sink, which receives the batches.
func receiver(addr string, s setting.Levels, warmup, counts time.Duration) []string {
	argv := []string{scriptPath("sink.sh"), "--producer", "http://" + addr, "--duration", number(counts.Seconds()),
		"--warmup", number(warmup.Seconds())}
	argv = given(argv, s, []option{{setting.SinkLatencyMs, "--latency-ms"}, {setting.SinkErrors, "--errors-permille"}})
	if searches(s) {
		argv = append(argv, "--find-limit")
	}
	return argv
}

// An option sets a setting on a client's command line.
type option struct{ setting, flag string }

// given adds the options of the settings that have a level.
func given(argv []string, s setting.Levels, options []option) []string {
	for _, o := range options {
		if v, ok := s[o.setting]; ok {
			argv = append(argv, o.flag, v.String())
		}
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
