package run

import (
	"time"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// readers is the command line of the readers of event streams, which give likes besides.
func readers(addr string, s setting.Levels, warmup, counts time.Duration) []string {
	argv := []string{scriptPath("readers.sh"), "--url", "http://" + addr, "--duration", number(counts.Seconds()),
		"--warmup", number(warmup.Seconds())}
	for _, o := range []struct{ setting, flag string }{{setting.Connections, "--connections"}, {setting.Likes, "--likes"},
		{setting.Writers, "--writers"}} {
		if v, ok := s[o.setting]; ok {
			argv = append(argv, o.flag, v.String())
		}
	}
	return argv
}
