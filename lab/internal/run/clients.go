package run

import (
	"strconv"
	"time"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

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

// readers is the command line of the readers of event streams, which give likes besides.
func readers(addr string, s setting.Levels, warmup, counts time.Duration) []string {
	argv := []string{scriptPath("readers.sh"), "--url", "http://" + addr, "--duration", number(counts.Seconds()),
		"--warmup", number(warmup.Seconds())}
	return given(argv, s, []option{{setting.Connections, "--connections"}, {setting.Likes, "--likes"},
		{setting.Writers, "--writers"}})
}

// offered leaves out what a producer of events is not told: no rate, where its receiver searches for
// the limit and sets the rate itself, and no attempts, where not the library's variant runs, which
// alone retries a batch.
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

// How long a client may take beyond its load: a receiver that searches for the limit tries up to
// eight rates for a whole window, each after the producer has recovered.
const (
	grace       = 15 * time.Second
	searchGrace = 90 * time.Second
)

func graceOf(s setting.Levels) time.Duration {
	if searches(s) {
		return searchGrace
	}
	return grace
}

// number formats without an exponent: scripts do not accept 1e+06.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
