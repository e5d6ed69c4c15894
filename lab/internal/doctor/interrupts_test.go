package doctor

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/experiment"
)

// A made-up machine, as large as the entries' largest: its cores
// suffice for designs of 128, and irqbalance is in the way of the one that does not
// stop it.
func TestTheDoctorOfALargeServersHost(t *testing.T) {
	runs := func(m Machine) { t.Setenv("LINE_RATE_TUNE_ROOT", filepath.Dir(m.Proc)) }
	m := madeUp(t, tree{"sys/devices/system/cpu/online": "0-127", "proc/812/comm": "irqbalance", "proc/813/comm": "crond"})
	runs(m)
	m.Allowed = nil
	for c := range 128 {
		m.Allowed = append(m.Allowed, c)
	}
	m.Split = cores.Split{Server: m.Allowed[:64], Client: m.Allowed[64:]}
	design := func(name, settings string) *experiment.Experiment {
		text := strings.Replace(rest, "MOST", "100", 1)
		text = strings.Replace(text, "[settings]", "[settings]\n"+settings, 1)
		text = strings.Replace(text, `name = "connections"`+"\nlevels = [10, 100]", `name = "irq"`+
			"\nlevels = [\"default\", \"pinned\"]", 1)
		text = strings.Replace(text, "over = \"connections\"", "over = \"irq\"\nneeds = { cores = 128 }", 1)
		x, err := experiment.Parse(name, []byte("entry = \"3\"\ntitle = \"t\"\nquestion = \"q\"\n"+text+
			"[topology]\nkind = \"fleet\"\n"))
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	m.Experiments = append(slices.Clone(m.Experiments),
		design("matched", "connections = 10\nserver_cpus = \"0-111\"\nirqbalance = false"),
		design("pinned", "connections = 10\nserver_cpus = \"0-111\""))
	expect(t, "cores", m.division(), Good, "128: server on 0-63, client on 64-127", "", "")
	f := m.balancer()
	expect(t, "irqbalance", f, Limit, "irqbalance runs", "pinned", "tune-irqbalance.sh apply")
	if bars(f) != "pinned/threads" {
		t.Errorf("irqbalance: %q", bars(f))
	}
	m.Experiments = m.Experiments[:len(m.Experiments)-1]
	expect(t, "irqbalance beside no design that it disturbs", m.balancer(), Good, "irqbalance runs", "", "")
	quiet := madeUp(t, tree{"proc/813/comm": "crond"})
	runs(quiet)
	expect(t, "without irqbalance", quiet.balancer(), Good, "does not run", "", "")
}
