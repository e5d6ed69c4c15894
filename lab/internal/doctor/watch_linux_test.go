package doctor

import (
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/machine"
)

// figures are those of a watch of a quiet machine, apart from what a test changes.
func figures(changed map[string]float64) machine.Window {
	w := machine.Window{Metrics: map[string]float64{"server_steal": 0.02, "client_steal": 0, "server_foreign_load": 0.01,
		"client_foreign_load": 0.03, "throttled_s": 0, "swap_pages": 0}}
	for name, v := range changed {
		if w.Metrics[name] = v; v < 0 {
			delete(w.Metrics, name)
		}
	}
	return w
}

func TestAWatchIsJudgedByTheGates(t *testing.T) {
	busy := []machine.Load{{Name: "postgres", Cores: 0.45}, {Name: "newcomer", Cores: 0.01}, {Name: "idler", Cores: 0.001}}
	for _, c := range []struct {
		name, about       string
		changed           map[string]float64
		level             Level
		seen, means, mend string
	}{
		{"quiet", "steal", nil, Good, "none to speak of in 5s", "", ""},
		{"quiet", "other load", nil, Good, "none to speak of", "", ""},
		{"quiet", "throttling", nil, Good, "no core was held back", "", ""},
		{"quiet", "swapping", nil, Good, "no page moved", "", ""},
		{"steal", "steal", map[string]float64{"client_steal": 0.04}, Limit, "4.0 % of the client's cores' time",
			"wider", "its own"},
		{"load", "other load", map[string]float64{"server_foreign_load": 0.55}, Limit,
			"for 0.55 of a core, more than 0.10: postgres 0.45, newcomer 0.01", "wider", "stop"},
		{"a quota", "throttling", map[string]float64{"throttled_s": 0.2}, Limit, "held back for 0.200 s", "does not count", "quota"},
		{"swapping", "swapping", map[string]float64{"swap_pages": 6}, Limit, "6 pages were swapped", "wider", "swapoff"},
		{"nothing to be seen", "throttling", map[string]float64{"throttled_s": -1}, Good, "not shown", "", ""},
		{"nothing to be seen", "steal", map[string]float64{"server_steal": -1, "client_steal": -1}, Good, "not shown", "", ""},
	} {
		m := madeUp(t, nil)
		m.Watch = 5 * time.Second
		w := figures(c.changed)
		w.Others = busy
		f := find(t, m.judge(w), c.about)
		expect(t, c.name, f, c.level, c.seen, c.means, c.mend)
		if f.Spoils != (c.level == Limit) {
			t.Errorf("%s: it spoils trials: %v", c.name, f.Spoils)
		}
	}
}

func TestARealMachineIsWatched(t *testing.T) {
	m := madeUp(t, nil)
	m.Watch = time.Millisecond
	ticks := 0
	m.Tick = func(time.Duration) { ticks++ }
	if fs := m.watched(); len(fs) != len(looks.Disturbances) || ticks == 0 {
		t.Errorf("%d ticks, %+v", ticks, fs)
	}
	m.Watch = 0
	if fs := m.watched(); len(fs) != 1 {
		t.Errorf("%+v", fs)
	} else {
		expect(t, "watch", fs[0], Good, "left out", "", "")
	}
}
