package doctor

import "fmt"

// enough is the memory that a run may need, in bytes: some hundred megabytes
// for a load generator, and a few dozen for each of the server's workers.
const enough = 512 << 20

func (m Machine) memory() Finding {
	f := Finding{Level: Good, About: "memory", Seen: "not shown here"}
	fs, err := m.procfs()
	if err != nil {
		return f
	}
	info, err := fs.Meminfo()
	if err != nil || info.MemAvailableBytes == nil {
		return f
	}
	f.Seen = size(*info.MemAvailableBytes) + " available"
	if *info.MemAvailableBytes < enough {
		f.Level, f.Mend = Limit, "stop what holds it: ps -eo rss,comm --sort -rss | head"
		f.Means = fmt.Sprintf("under %s a run may swap, or be killed: %s", size(enough), m.name(m.claims(every)))
	}
	return f
}

// swap matters when pages move. Unused swap costs nothing, but it is named all
// the same: watching an idle machine says little about a loaded one.
func (m Machine) swap() Finding {
	f := Finding{Level: Good, About: "swap", Seen: "not shown here"}
	fs, err := m.procfs()
	if err != nil {
		return f
	}
	swaps, err := fs.Swaps()
	switch {
	case err != nil:
		return f
	case len(swaps) == 0:
		f.Seen = "none"
		return f
	}
	var all, used uint64
	for _, s := range swaps {
		all, used = all+uint64(s.Size)<<10, used+uint64(s.Used)<<10
	}
	f.Seen = fmt.Sprintf("%s, of which %s used", size(all), size(used))
	return f
}

func size(bytes uint64) string {
	if bytes >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}
