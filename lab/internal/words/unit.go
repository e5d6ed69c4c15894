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
	most = math.Abs(most)
	switch unit {
	case "s":
		switch {
		case most >= 1:
			return Unit{1, "s"}
		case most >= 1e-3:
			return Unit{1e3, "ms"}
		case most >= 1e-6:
			return Unit{1e6, "µs"}
		}
		return Unit{1e9, "ns"}
	case "bit/s", "B/s", "B":
		kilo := 1e3
		if unit == "B" {
			kilo = 1e5 // a few thousand bytes are counted, not rounded
		}
		switch {
		case most >= 1e9:
			return Unit{1e-9, "G" + unit}
		case most >= 1e6:
			return Unit{1e-6, "M" + unit}
		case most >= kilo:
			return Unit{1e-3, "k" + unit}
		}
		return Unit{1, unit}
	case "ratio":
		return Unit{100, "%"}
	case "1/s":
		return Unit{1, "/s"}
	}
	return Unit{1, ""}
}
