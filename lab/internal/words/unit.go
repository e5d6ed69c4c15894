package words

import "math"

// A Unit is how figures in a base unit are shown to a reader: the factor by
// which to multiply them, and the unit's name.
type Unit struct {
	Factor float64
	Name   string
}

// UnitFor chooses the unit for figures up to some size. A rate has no name of
// its own, since "1/s" counts requests in some places and packets in others, and
// the words around it say which.
func UnitFor(unit string, most float64) Unit {
	for _, u := range units[unit] {
		if math.Abs(most) >= u.from {
			return u.Unit
		}
	}
	return Unit{1, ""}
}

// units are those of each base unit, with the size from which on figures are shown in them.
var units = map[string][]struct {
	from float64
	Unit
}{
	"s":     {{1, Unit{1, "s"}}, {1e-3, Unit{1e3, "ms"}}, {1e-6, Unit{1e6, "µs"}}, {0, Unit{1e9, "ns"}}},
	"bit/s": {{1e9, Unit{1e-9, "Gbit/s"}}, {1e6, Unit{1e-6, "Mbit/s"}}, {1e3, Unit{1e-3, "kbit/s"}}, {0, Unit{1, "bit/s"}}},
	"B/s":   {{1e9, Unit{1e-9, "GB/s"}}, {1e6, Unit{1e-6, "MB/s"}}, {1e3, Unit{1e-3, "kB/s"}}, {0, Unit{1, "B/s"}}},
	// A few thousand bytes are counted, not rounded.
	"B":     {{1e9, Unit{1e-9, "GB"}}, {1e6, Unit{1e-6, "MB"}}, {1e5, Unit{1e-3, "kB"}}, {0, Unit{1, "B"}}},
	"ratio": {{0, Unit{100, "%"}}},
	"1/s":   {{0, Unit{1, "/s"}}},
}
