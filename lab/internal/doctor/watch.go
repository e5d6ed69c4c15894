package doctor

import (
	"fmt"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/machine"
)

// watch watches the machine as a trial does. Between samples it sleeps: if it
// worked, it would itself be the load that it warns of.
func (m Machine) watch() (machine.Window, error) {
	began := time.Now()
	none := func() int { return 0 }
	s, err := machine.Start(machine.Targets{Pairs: []machine.Pair{{Client: none}}, ServerCPUs: m.Split.Server,
		ClientCPUs: m.Split.Client, Window: m.Watch})
	if err != nil {
		return machine.Window{}, err
	}
	defer s.Stop()
	for left := m.Watch; left > 0; left = m.Watch - time.Since(began) {
		if m.Tick != nil {
			m.Tick(left)
		}
		time.Sleep(min(left, time.Second))
	}
	s.Stop()
	return s.Between(0, began, time.Now(), 0), nil
}

// watched reports what went on during the watch. The load average is not used:
// it is a mean over minutes, which still includes the run before; it counts
// tasks that wait for a disk; and it does not say how much CPU is left.
func (m Machine) watched() []Finding {
	if m.Watch <= 0 {
		return []Finding{{Level: Good, About: "watch",
			Seen: "left out: steal, other load, paging and throttling were not looked at"}}
	}
	w, err := m.watch()
	if err != nil {
		return []Finding{{Level: Good, About: "watch", Seen: "not possible here: " + err.Error()}}
	}
	return m.judge(w)
}

// judge judges a watch by the gates of a trial.
func (m Machine) judge(w machine.Window) (fs []Finding) {
	for _, d := range looks.Disturbances {
		f := Finding{Level: Good, About: d.About, Seen: fmt.Sprintf("%s in %v", d.None, m.Watch)}
		unseen := 0
		var closed []string
		for _, found := range gate.Hold(d.Gate, w.Metrics, gate.Asked{}) {
			if found.Missing() {
				unseen++
			} else {
				closed = append(closed, found.Detail)
			}
		}
		switch {
		case len(closed) > 0:
			f.Level, f.Spoils, f.Mend = Limit, true, d.Mend
			f.Seen = strings.Join(closed, "; ")
			if by := busiest(w.Others); d.Gate == gate.OtherLoad && by != "" {
				f.Seen += ": " + by
			}
			f.Means = "intervals are wider for it"
			if g, _ := gate.Of(d.Gate); g.Kind == gate.Fault {
				f.Means = "such a trial does not count"
			}
		case unseen > 0 && !m.oneSided(unseen):
			f.Seen = "not shown here"
		}
		fs = append(fs, f)
	}
	return fs
}

// oneSided reports whether so many figures are missing only because one side has no
// cores of its own.
func (m Machine) oneSided(missing int) bool {
	return missing == 1 && (len(m.Split.Server) == 0) != (len(m.Split.Client) == 0)
}

// busiest names up to three commands with their use. It leaves out arguments, which
// may be private.
func busiest(others []machine.Load) string {
	const least, atMost = 0.005, 3
	var names []string
	for _, o := range others[:min(len(others), atMost)] {
		if o.Cores >= least {
			names = append(names, fmt.Sprintf("%s %.2f", o.Name, o.Cores))
		}
	}
	return strings.Join(names, ", ")
}
