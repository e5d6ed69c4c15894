package verdict

import "math"

// A shown unit is how figures in a base unit are shown to a reader: the factor by
// which to multiply them, and the unit's name.
type shownUnit struct {
	factor float64
	name   string
}

// shownIn chooses the unit for figures up to some size. A rate has no name of
// its own, since "1/s" counts requests in some places and packets in others, and
// the words around it say which.
func shownIn(unit string, most float64) shownUnit {
	most = math.Abs(most)
	switch unit {
	case "s":
		switch {
		case most >= 1:
			return shownUnit{1, "s"}
		case most >= 1e-3:
			return shownUnit{1e3, "ms"}
		case most >= 1e-6:
			return shownUnit{1e6, "µs"}
		}
		return shownUnit{1e9, "ns"}
	case "bit/s", "B/s", "B":
		kilo := 1e3
		if unit == "B" {
			kilo = 1e5 // a few thousand bytes are counted, not rounded
		}
		switch {
		case most >= 1e9:
			return shownUnit{1e-9, "G" + unit}
		case most >= 1e6:
			return shownUnit{1e-6, "M" + unit}
		case most >= kilo:
			return shownUnit{1e-3, "k" + unit}
		}
		return shownUnit{1, unit}
	case "ratio":
		return shownUnit{100, "%"}
	case "1/s":
		return shownUnit{1, "/s"}
	}
	return shownUnit{1, ""}
}
