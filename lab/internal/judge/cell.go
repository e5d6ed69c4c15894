package judge

import (
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
)

// A unit is how one of a figure's base units is one of what is printed.
type unit struct {
	of    metric.Unit
	scale float64
}

// units are those that a cell, or a column's head, may have. A "MB" is a million bytes, since nothing
// says otherwise; of the tools that print 1,024 so, tools.toml says it.
var units = sync.OnceValue(func() map[string]unit {
	all := map[string]unit{"%": {metric.Ratio, 0.01}, "pct": {metric.Ratio, 0.01}, "percent": {metric.Ratio, 0.01}, "x": {metric.Ratio, 1}}
	add := func(of metric.Unit, scale float64, names string) {
		for name := range strings.FieldsSeq(names) {
			all[name] = unit{of, scale}
		}
	}
	add(metric.Second, 1, "s sec secs second seconds")
	add(metric.Second, 1e-3, "ms msec msecs millis millisecond milliseconds")
	add(metric.Second, 1e-6, "us µs μs usec usecs micros microsecond microseconds")
	add(metric.Second, 1e-9, "ns nsec nanos nanosecond nanoseconds")
	add(metric.Second, 60, "min mins minute minutes")
	add(metric.Second, 3600, "h hour hours")
	add(metric.PerSecond, 1, "/s /sec rps qps req/s reqs/s req/sec reqs/sec requests/s requests/sec")
	add(metric.PerSecond, 1e3, "krps kreq/s")
	add(metric.PerSecond, 1.0/60, "/min req/min")
	add(metric.Count, 1, "requests reqs req calls connections cores")
	for power, prefix := range []string{"", "k", "m", "g", "t"} {
		decimal, binary := math.Pow(1000, float64(power)), math.Pow(1024, float64(power))
		add(metric.Bytes, decimal, prefix+"b "+prefix+"byte "+prefix+"bytes")
		add(metric.BytesPerSecond, decimal, prefix+"b/s "+prefix+"b/sec "+prefix+"bytes/s "+prefix+"bytes/sec")
		add(metric.BitsPerSecond, decimal, prefix+"bps "+prefix+"bit/s "+prefix+"bits/s "+prefix+"bit/sec")
		if power > 0 {
			add(metric.Bytes, binary, prefix+"ib")
			add(metric.BytesPerSecond, binary, prefix+"ib/s "+prefix+"ib/sec")
			all[prefix] = unit{metric.Count, decimal}
		}
	}
	return all
})

// written reads a number with its unit, as "1.2ms", "21,400", "<1 ms" or "1m30s", and gives the range that it
// stands for: half a unit of the last digit on either side. Zeros at the end of a whole number may be digits or
// rounding, and are taken as rounding, unless the figure is counted. ok is false if it is none.
func written(text string, counted bool) (q law.Quantity, of string, whole, ok bool) {
	text = strings.TrimSpace(text)
	about := byte(0)
	if text != "" && (text[0] == '<' || text[0] == '~') {
		about, text = text[0], strings.TrimSpace(text[1:])
	}
	var digits [40]byte
	n, fraction, zeros, end := 0, -1, 0, 0
scan:
	for ; end < len(text) && n < len(digits); end++ {
		switch c := text[end]; {
		case c >= '0' && c <= '9':
			digits[n] = c
			n++
			zeros++
			if c != '0' {
				zeros = 0
			}
			if fraction >= 0 {
				fraction++
			}
		case c == '.' && fraction < 0:
			digits[n] = c
			n++
			fraction = 0
		case (c == ',' || c == '_') && fraction < 0 && n > 0 && end+3 < len(text) && text[end+1] >= '0' && text[end+1] <= '9':
		default:
			break scan
		}
	}
	exponent := 0
	if end < len(text) && (text[end] == 'e' || text[end] == 'E') {
		to := end + 1
		for to < len(text) && (text[to] >= '0' && text[to] <= '9' || to == end+1 && (text[to] == '+' || text[to] == '-')) {
			to++
		}
		if e, err := strconv.Atoi(text[end+1 : to]); err == nil && e > -300 && e < 300 {
			exponent, end = e, to
		}
	}
	v, err := strconv.ParseFloat(string(digits[:n]), 64)
	if err != nil {
		return q, "", false, false
	}
	digit := 1.0
	switch {
	case fraction > 0:
		digit = math.Pow10(-fraction)
	case !counted && v != 0:
		digit = math.Pow10(zeros)
	}
	q = law.Around(v, digit/2)
	switch of = strings.TrimSpace(text[end:]); {
	case about == '~':
		q = law.Around(v, digit)
	case about == '<':
		q = law.Quantity{Value: v, Low: 0, High: v}
	case counted && fraction <= 0 && of == "":
		q = law.Exactly(v)
	case strings.ContainsAny(of, "0123456789"): // 1m30s
		d, err := time.ParseDuration(text)
		return law.Around(d.Seconds(), math.Pow10(-max(fraction, 0))/2), "s", fraction < 0, err == nil
	}
	return q.Times(law.Exactly(math.Pow10(exponent))), of, fraction <= 0, true
}

// unitOf finds a unit by its name as it is printed.
func unitOf(name string) (u unit, known bool) {
	if u, known = units()[name]; !known {
		u, known = units()[strings.ToLower(strings.ReplaceAll(name, " ", ""))]
	}
	return u, known
}

// fits tells how many of one base unit a figure in another one is, if it can be in it. cores: a share is one of a core.
func fits(of, want metric.Unit, cores bool) (scale float64, ok bool) {
	switch {
	case of == want, of == metric.Ratio && cores:
		return 1, true
	case of == metric.Count: // "12k"
		return 1, want == metric.PerSecond || want == metric.BytesPerSecond || want == metric.Bytes
	case of == metric.Bytes && want == metric.BytesPerSecond: // of a head such as "transfer/s"
		return 1, true
	case want == metric.BitsPerSecond && (of == metric.BytesPerSecond || of == metric.Bytes):
		return 8, true
	case of == metric.BitsPerSecond && want == metric.BytesPerSecond:
		return 1.0 / 8, true
	}
	return 0, false
}

// kilos are how many times 1,000 the binary units are more, by prefix.
var kilos = map[byte]float64{'k': 1.024, 'm': 1.048576, 'g': 1.073741824, 't': 1.099511627776}

// quantity reads a cell. in is the unit of its column's head; guessed is what was taken for the unit if the cell
// has none either. binary says that a kilo of bytes is 1,024; cores, that a share is one of a core.
func quantity(text string, want metric.Unit, in string, binary, cores bool) (q law.Quantity, whole bool, guessed string, ok bool) {
	q, name, whole, ok := written(text, want == metric.Count && !cores)
	if !ok {
		return q, whole, "", false
	}
	if name == "" {
		name = in
	}
	if name == "m" && want == metric.Second {
		name = "min" // as wrk prints it
	}
	u, known := unitOf(name)
	name = strings.ToLower(name)
	switch {
	case name == "":
		u = unit{want, 1}
		switch want {
		case metric.Second:
			guessed = "s"
		case metric.Bytes, metric.BytesPerSecond:
			guessed = "B"
		case metric.BitsPerSecond:
			guessed = "bit/s"
		}
	case !known:
		return q, whole, "", false
	}
	scale, ok := fits(u.of, want, cores)
	if !ok {
		return q, whole, "", false
	}
	scale *= u.scale
	if binary && name != "" && (u.of == metric.Bytes || u.of == metric.BytesPerSecond) && !strings.Contains(name, "ib") {
		scale *= max(1, kilos[name[0]])
	}
	return q.Times(law.Exactly(scale)), whole, guessed, true
}
