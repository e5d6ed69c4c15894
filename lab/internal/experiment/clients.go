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
