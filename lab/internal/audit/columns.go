package audit

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A column of a table holds the levels of a setting or the figures of a metric.
type column struct {
	head    string
	setting string        // empty for a metric
	metric  metric.Metric // of no name for a setting
	unit    *shownAs      // nil if the head names no unit
}

// A shownAs is a unit as it is written after a figure that is printed without one.
type shownAs struct{ suffix string }

// spelled are the units that a head may name, in the spelling of printed figures. A
// rate and a share are written without.
var spelled = map[string]string{
	"s": " s", "sec": " s", "seconds": " s", "ms": " ms", "milliseconds": " ms", "µs": " µs", "μs": " µs", "us": " µs", "microseconds": " µs",
	"ns": " ns", "nanoseconds": " ns", "min": " min", "minutes": " min", "%": "%", "percent": "%", "pct": "%",
	"B": " B", "bytes": " B", "kB": " kB", "KB": " KB", "MB": " MB", "GB": " GB",
	"B/s": " B/s", "bytes/s": " B/s", "kB/s": " kB/s", "KB/s": " KB/s", "MB/s": " MB/s", "GB/s": " GB/s",
	"bps": " bps", "bit/s": " bps", "kbps": " kbps", "kbit/s": " kbps", "Mbps": " Mbps", "Mbit/s": " Mbps", "Gbps": " Gbps", "Gbit/s": " Gbps",
	"/s": "", "1/s": "", "rps": "", "RPS": "", "req/s": "", "requests/s": "", "/min": " /min", "k": "k", "K": "k", "thousands": "k", "M": "M", "millions": "M",
	"k/s": "k", "M/s": "M", "k req/s": "k", "M req/s": "M", "kRPS": "k", "MRPS": "M", "×": "×", "x": "×", "ratio": "", "share": "", "count": "",
}

// base is the unit of figures under a metric's own name, which carries it.
var base = map[metric.Unit]string{metric.Second: " s", metric.BytesPerSecond: " B/s", metric.Bytes: " B", metric.BitsPerSecond: " bps"}

// also are names for columns beside the lab's own.
var also = map[string]string{
	"rps": "throughput_rps", "req s": "throughput_rps", "req sec": "throughput_rps", "requests s": "throughput_rps", "requests sec": "throughput_rps",
	"requests per second": "throughput_rps", "throughput": "throughput_rps",
	"median": "latency_p50_s", "p99 9": "latency_p999_s", "p999": "latency_p999_s",
	"mean": "latency_mean_s", "average latency": "latency_mean_s", "avg latency": "latency_mean_s", "latency": "latency_mean_s",
	"bytes s": "transfer_bytes_per_s", "transfer s": "transfer_bytes_per_s", "line rate": "line_rate_share", "share of the interface": "line_rate_share",
	"conns": setting.Connections, "concurrency": setting.Connections, "pipeline": setting.Pipelining, "path": setting.Route, "gomaxprocs": setting.Workers,
}

// folded is a head in the form in which heads are compared.
func folded(head string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(head), func(r rune) bool { return !('a' <= r && r <= 'z' || '0' <= r && r <= '9') }), " ")
}

// columnNames maps what a head may say to settings and metrics. Where a setting and
// a metric have one name, as workers, the setting has it.
var columnNames = func() map[string]string {
	names := maps.Clone(also)
	for _, name := range metric.Names() {
		m, _ := metric.Lookup(name)
		for _, said := range []string{name, m.Label} {
			if _, taken := names[folded(said)]; !taken {
				names[folded(said)] = name
			}
		}
		if p, ok := strings.CutPrefix(name, "latency_p"); ok {
			p = "p" + strings.TrimSuffix(p, "_s")
			names[p], names[p+" latency"], names["latency "+p] = name, name, name
		}
	}
	for _, name := range setting.Names() {
		if names[folded(name)] != "throughput_rps" {
			names[folded(name)] = name
		}
	}
	return names
}()

// bracketed is a head with its unit: "p99 (ms)", "p99 [ms]", "p99, ms".
var bracketed = regexp.MustCompile(`^(.*?)\s*(?:\(([^()]+)\)|\[([^\[\]]+)\]|,\s*([^,]+))$`)

// column reads a head, with what was said of it beside the table and the column's first
// cell.
func (in *Import) column(head, first string) (column, error) {
	c := column{head: head}
	name, unit := head, ""
	if s := bracketed.FindStringSubmatch(head); s != nil {
		name, unit = s[1], strings.TrimSpace(s[2]+s[3]+s[4])
	}
	own, known := "", false
	if said, ok := either(in.Columns, head, name); ok {
		own, known = said, true
	} else if own, known = columnNames[folded(name)]; !known {
		own, known = columnNames[folded(head)]
	}
	if _, state := states[strings.ToLower(first)]; state && own == "throughput_rps" && folded(name) == "rps" {
		own = setting.RPS // receive packet steering, on or off
	}
	// A name may end in its unit, as p99_ms.
	if words := strings.Fields(folded(name)); !known && unit == "" && len(words) > 1 {
		if last := words[len(words)-1]; spelled[last] != "" {
			own, known = columnNames[strings.Join(words[:len(words)-1], " ")]
			unit = last
		}
	}
	plain, isMetric := strings.CutPrefix(own, "metric:")
	plain, isSetting := strings.CutPrefix(plain, "setting:")
	m, ok := metric.Lookup(plain)
	switch {
	case known && !isMetric && slices.Contains(setting.Names(), plain):
		c.setting = plain
		return c, nil
	case known && !isSetting && ok:
		c.metric = m
	case known:
		return c, fmt.Errorf("--column %q: no setting or metric %q; %s", head+"="+own, plain, strict.Instead(plain, slices.Concat(setting.Names(), metric.Names())))
	default:
		return c, fmt.Errorf("no setting or metric is called %q; %s; or name it by --column %q", name, strict.Instead(name, slices.Concat(setting.Names(), metric.Names())), name+"=NAME")
	}
	if said, ok := either(in.Units, head, name); ok {
		unit = said
	}
	if unit == "" {
		if suffix, ok := base[m.Unit]; name == m.Name && (ok || m.Unit == metric.Ratio) {
			c.unit = &shownAs{suffix}
		}
		return c, nil
	}
	suffix, ok := spelled[unit]
	switch {
	case strings.Contains(unit, "iB"):
		return c, fmt.Errorf("unit %q counts by 1,024; write such figures into data/texts by hand, with binary = true", unit)
	case !ok:
		return c, fmt.Errorf("unit %q is unknown; %s", unit, strict.Instead(unit, slices.Sorted(maps.Keys(spelled))))
	}
	if of, err := parse("1"+suffix, manner{}); err != nil || !of.fits(m) {
		return c, fmt.Errorf("unit %q, but %s is given in %s", unit, m.Name, givenIn[m.Unit])
	}
	c.unit = &shownAs{suffix}
	return c, nil
}

// givenIn says how the figures of a metric may be given.
var givenIn = map[metric.Unit]string{
	metric.Second: "s, ms, µs or ns", metric.PerSecond: "requests or the like a second, also k or M of them", metric.BitsPerSecond: "bps, Mbps or Gbps",
	metric.BytesPerSecond: "B/s, MB/s or GB/s", metric.Bytes: "B, kB, MB or GB", metric.Ratio: "% or as a ratio", metric.Count: "plain numbers",
}

// fits tells whether a figure's unit is one of the metric's. A figure without a unit
// is a count, a rate or a share.
func (r reading) fits(m metric.Metric) bool {
	if r.Unit == "" {
		return m.Unit == metric.Count || m.Unit == metric.PerSecond || m.Unit == metric.Ratio
	}
	return r.Unit == m.Unit
}

// either looks a head up with its unit and without.
func either(in map[string]string, head, name string) (string, bool) {
	if v, ok := in[head]; ok {
		return v, true
	}
	v, ok := in[name]
	return v, ok
}
