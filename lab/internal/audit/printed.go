package audit

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/metric"
)

// A reading is a printed figure in its base unit.
type reading struct {
	law.Quantity
	Unit metric.Unit // empty if no unit is printed
}

// A manner says how a figure was shortened for print, if not by rounding.
type manner struct {
	exact  bool // a setting or a count, without any range
	cut    bool // rounded down, as autocannon does with milliseconds
	binary bool // with a kilo of 1,024, as wrk and pprof print bytes
}

var shape = regexp.MustCompile(`^([<~]?)([+−-]?)([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(\.[0-9]+)? ?([kKMG]?)(%|[a-zµ×/]*|B|B/s|RPS)$`)

var units = map[string]struct {
	unit  metric.Unit
	scale float64
}{
	"": {"", 1}, "%": {metric.Ratio, 0.01}, "×": {metric.Ratio, 1}, "x": {metric.Ratio, 1},
	"s": {metric.Second, 1}, "ms": {metric.Second, 1e-3}, "µs": {metric.Second, 1e-6}, "ns": {metric.Second, 1e-9},
	"min": {metric.Second, 60},
	"B":   {metric.Bytes, 1}, "B/s": {metric.BytesPerSecond, 1}, "bps": {metric.BitsPerSecond, 1},
	"/s": {metric.PerSecond, 1}, "RPS": {metric.PerSecond, 1}, "/min": {metric.PerSecond, 1.0 / 60},
}

// powers has the powers of a kilo that a prefix stands for.
var powers = map[string]float64{"k": 1, "K": 1, "M": 2, "G": 3}

// parse reads a printed figure and gives the range of values it may stand for:
//
//   - half a unit of the last printed digit on either side. Zeros at the end of
//     a whole number may be digits or rounding, and are taken as rounding
//     (21,400 stands for 21,350 to 21,450); those of a percentage are taken as
//     digits;
//   - "~" doubles the range, to a whole unit;
//   - "<1ms" stands for zero to one millisecond;
//   - a figure that was rounded down stands for all values up to the next, and
//     its zeros are digits.
func parse(printed string, m manner) (reading, error) {
	s := shape.FindStringSubmatch(printed)
	if s == nil {
		return reading{}, fmt.Errorf(`%q is no printed figure this lab can read (such as "1.32M", "~34µs", "+117%%", "<1ms", "6.25 GB/s")`, printed)
	}
	about, sign, whole, fraction, prefix := s[1], s[2], strings.ReplaceAll(s[3], ",", ""), s[4], s[5]
	u, ok := units[s[6]]
	if !ok {
		return reading{}, fmt.Errorf("%q: unknown unit %q", printed, s[6])
	}
	v, err := strconv.ParseFloat(whole+fraction, 64)
	if err != nil {
		return reading{}, fmt.Errorf("%q: %w", printed, err)
	}
	digit := 1.0 // value of one unit of the last digit
	switch {
	case fraction != "":
		digit = math.Pow10(1 - len(fraction))
	case s[6] != "%" && v != 0 && !m.cut:
		digit = math.Pow10(len(whole) - len(strings.TrimRight(whole, "0")))
	}
	q := law.Around(v, digit/2)
	switch {
	case m.exact && about != "", m.cut && about != "", m.exact && m.cut:
		return reading{}, fmt.Errorf("%q cannot be exact or cut as well", printed)
	case m.exact:
		q = law.Exactly(v)
	case m.cut:
		q = law.Between(v, v, v+digit)
	case about == "~":
		q = law.Around(v, digit)
	case about == "<":
		q = law.Between(v, 0, v)
	}
	if sign == "-" || sign == "−" {
		if about == "<" || m.cut {
			return reading{}, fmt.Errorf("%q: a figure below zero cannot be cut or a limit", printed)
		}
		q = law.Quantity{}.Minus(q)
	}
	kilo := 1000.0
	if m.binary {
		kilo = 1024
	}
	q = q.Times(law.Exactly(u.scale * math.Pow(kilo, powers[prefix])))
	if !q.Finite() {
		return reading{}, fmt.Errorf("%q is too large", printed)
	}
	return reading{q, u.unit}, nil
}
