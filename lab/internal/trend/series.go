package trend

import (
	"slices"
	"strconv"
	"time"
)

// A Series is all weeks as pages show them, in data/trend.json.
type Series struct {
	Weeks    []*Week   `json:"weeks"`          // newest first
	Band     *Edges    `json:"band,omitempty"` // what the A/A control claims of its ratios; absent without that experiment
	Machines []Machine `json:"machines"`
}

// Edges are the lower and the upper edge of a band of ratios.
type Edges struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// A Machine is the weeks whose figures may be compared at all: those of one kind of
// processor with the same number of cores. Pages draw one line for each machine, and
// none from one to another.
type Machine struct {
	CPU    string  `json:"cpu"`
	Cores  int     `json:"cores"`
	Points []Point `json:"points"` // oldest first
}

// A Point is a week's place in a chart: weeks since the first of all.
type Point struct {
	Date string  `json:"date"`
	At   float64 `json:"at"`
	// Throughput is in requests a second, with the week's own A/A interval around it.
	Throughput Range `json:"throughput"`
}

// Of makes the series of the weeks, which are in order of their dates. The margin is
// that of the A/A control's claims.
func Of(weeks []*Week, margin float64) *Series {
	s := &Series{Weeks: []*Week{}, Machines: []Machine{}}
	if margin > 0 {
		s.Band = &Edges{digits(1 / (1 + margin)), digits(1 + margin)}
	}
	for _, w := range weeks {
		s.Weeks = append([]*Week{w}, s.Weeks...)
		i := slices.IndexFunc(s.Machines, func(m Machine) bool { return m.CPU == w.CPU && m.Cores == w.Cores })
		if i < 0 {
			i = len(s.Machines)
			s.Machines = append(s.Machines, Machine{CPU: w.CPU, Cores: w.Cores})
		}
		s.Machines[i].add(w, weeks[0])
	}
	return s
}

func (m *Machine) add(w, first *Week) {
	rps, ratio := w.Figures[Metrics[0]].Median, w.Control[Metrics[0]]
	m.Points = append(m.Points, Point{
		Date: w.Date, At: digits(w.day().Sub(first.day()).Hours() / (7 * 24)),
		Throughput: Range{rps, digits(rps * min(1, ratio.Low)), digits(rps * max(1, ratio.High))},
	})
}

// digits rounds to nine significant digits, so that all architectures write the same
// file.
func digits(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', 8, 64), 64)
	return v
}

// day is when the week was measured; check has read the date already.
func (w *Week) day() time.Time {
	t, _ := time.Parse(time.DateOnly, w.Date)
	return t
}
