package machine

import (
	"os"
	"strings"
)

// Interface names the interface of this machine's default route, "eth0" for
// instance; empty if there is none.
func Interface() string {
	table, err := os.ReadFile("/proc/net/route")
	if err != nil {
		return ""
	}
	return defaultRoute(string(table))
}

// defaultRoute finds the interface of the default route with the lowest metric
// in the text of /proc/net/route.
func defaultRoute(table string) string {
	dev, best := "", ""
	for _, line := range strings.Split(table, "\n") {
		f := strings.Fields(line)
		if len(f) < 8 || f[1] != "00000000" || f[7] != "00000000" {
			continue
		}
		// Metrics are decimal without leading zeros.
		if m := f[6]; dev == "" || len(m) < len(best) || len(m) == len(best) && m < best {
			dev, best = f[0], m
		}
	}
	return dev
}
