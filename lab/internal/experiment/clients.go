package experiment

import "github.com/line-rate/line-rate/lab/internal/setting"

// Beyond gives the levels of `clients` that a fleet with that many clients
// cannot load with, for Without.
func (x *Experiment) Beyond(clients int) (levels []setting.Levels) {
	for _, f := range x.Factors {
		for _, l := range f.levels {
			if n, _ := l.Int(); f.Name == setting.Clients && n > int64(clients) {
				levels = append(levels, setting.Levels{f.Name: l})
			}
		}
	}
	return levels
}

// LeastClients is the least number of clients with which a fleet can measure
// anything of the design: those of every trial, or the second smallest number
// where numbers are compared. It is 1 where the design names none.
func (x *Experiment) LeastClients() int {
	least := x.fixed[setting.Clients]
	for _, f := range x.Factors {
		if f.Name == setting.Clients {
			least = f.levels[1]
		}
	}
	n, _ := least.Int()
	return max(1, int(n))
}
