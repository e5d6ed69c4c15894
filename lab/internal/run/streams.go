package run

import (
	"time"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// readers is the command line of the readers of event streams, which give likes besides.
func readers(addr string, s setting.Levels, warmup, counts time.Duration) []string {
	argv := []string{scriptPath("readers.sh"), "--url", "http://" + addr, "--duration", number(counts.Seconds()),
		"--warmup", number(warmup.Seconds())}
	return given(argv, s, []option{{setting.Connections, "--connections"}, {setting.Likes, "--likes"},
		{setting.Writers, "--writers"}})
}
