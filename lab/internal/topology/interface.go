package topology

import (
	"os"
	"strings"
)

// Interface names this machine's interface to other machines: the one that its
// default route leads through, "eth0" for instance; empty where there is none.
func Interface() string {
	table, err := os.ReadFile("/proc/net/route")
	if err != nil {
		return ""
	}
	return defaultRoute(string(table))
}

// defaultRoute finds the interface of the route with the lowest metric to
// anywhere, in the form of /proc/net/route.
func defaultRoute(table string) string {
	dev, best := "", ""
	for _, line := range strings.Split(table, "\n") {
		f := strings.Fields(line)
		if len(f) < 8 || f[1] != "00000000" || f[7] != "00000000" {
			continue
		}
		// Metrics are decimal and without leading noughts.
		if m := f[6]; dev == "" || len(m) < len(best) || len(m) == len(best) && m < best {
			dev, best = f[0], m
		}
	}
	return dev
}
