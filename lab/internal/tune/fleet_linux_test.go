package tune

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// withProcess has a service of the tree run as a process, which a stop ends and
// a start begins again.
func withProcess(t *testing.T, root, service string, pid int) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d", pid)
	put(t, root, dir+"/comm", service+"\n")
	bin, _, _ := strings.Cut(os.Getenv("PATH"), ":")
	script := get(t, bin, "/systemctl")
	_, rest, _ := strings.Cut(script, "state='")
	state, _, _ := strings.Cut(rest, "'")
	put(t, state, "/"+service+".stop", fmt.Sprintf("rm -r '%s'\n", root+dir))
	put(t, state, "/"+service+".start", fmt.Sprintf("mkdir '%[1]s' && echo %[2]s >'%[1]s/comm'\n", root+dir, service))
}

// The settings of each design that needs a fleet, all on, in the order in which a
// run changes them, on a made-up tree of the machine that its entry names. Package
// run tests that these are the lines that the designs give.
func TestTheDesignsOfAFleetFitTheirMachines(t *testing.T) {
	irqs := func(first, cpu int, queues, cpus int) (lines []string) {
		for i := range queues {
			lines = append(lines, fmt.Sprintf("/proc/irq/%d/smp_affinity_list %d", first+i, cpu+i%cpus))
		}
		return lines
	}
	steering := func(dev, mask, flows string, queues int) (lines []string) {
		for i := range queues {
			lines = append(lines, fmt.Sprintf("%s%s/queues/rx-%d/rps_cpus %s", netDir, dev, i, mask))
		}
		lines = append(lines, tableFile+" 32768")
		for i := range queues {
			lines = append(lines, fmt.Sprintf("%s%s/queues/rx-%d/rps_flow_cnt %s", netDir, dev, i, flows))
		}
		return lines
	}
	for _, c := range []struct {
		design string
		on     model
		runs   bool // whether irqbalance and crond run before it
		turns  []string
		want   []string // files and their values while all is held
	}{
		{"03 and its steps on the entry's own machine", c8i32xlarge, false, []string{
			"rps --dev enp95s0", "rfs --table-only --entries 32768", "rfs --queues-only --dev enp95s0 --entries 32768",
		}, steering("enp95s0", "ffffffff,ffffffff,ffffffff,ffffffff", "2048", 16)},
		{"06", c6i2xlarge, false, []string{
			"irq-pin --dev ens5 --cpus 6-7", "rps --dev ens5", "rfs --table-only --entries 32768",
			"rfs --queues-only --dev ens5 --entries 32768",
		}, append(irqs(28, 6, 8, 2), steering("ens5", "ff", "4096", 8)...)},
		{"06b", c8i32xlarge, false, []string{
			"irq-pin --dev enp95s0 --cpus 112-127", "rps --dev enp95s0", "rfs --table-only --entries 32768",
			"rfs --queues-only --dev enp95s0 --entries 32768",
		}, append(irqs(143, 112, 16, 16), steering("enp95s0", "ffffffff,ffffffff,ffffffff,ffffffff", "2048", 16)...)},
		{"07", c8i32xlarge, true, []string{"irqbalance", "crond", "irq-pin --dev enp95s0 --cpus 112-127"},
			irqs(143, 112, 16, 16)},
		{"08", c6in8xlarge, false, []string{"irq-pin --dev ens5 --cpus 16-31"}, irqs(40, 16, 16, 16)},
	} {
		t.Run(c.design, func(t *testing.T) {
			root := c.on.tree(t)
			if c.runs {
				withProcess(t, root, "irqbalance", 812)
				withProcess(t, root, "crond", 813)
			}
			before, units := snapshot(t, root), unitStates(t)
			var held []*holder
			for _, turn := range c.turns {
				words := strings.Fields(turn)
				if err := Reach(words[0], words[1:]); err != nil {
					t.Fatalf("%s: %v", turn, err)
				}
				held = append(held, hold(t, slices.Insert(words, 1, "hold")...))
			}
			for _, line := range c.want {
				path, value, _ := strings.Cut(line, " ")
				if got := strings.TrimSpace(get(t, root, path)); got != value {
					t.Errorf("%s is %q while all is held, want %q", path, got, value)
				}
			}
			if c.runs && (Runs("irqbalance") || Runs("crond")) {
				t.Error("what would move interrupts still runs")
			}
			for _, h := range slices.Backward(held) {
				h.in.Close()
				if err := h.cmd.Wait(); err != nil {
					t.Errorf("%v\n%s", err, h.errs.String())
				}
			}
			if !maps.Equal(before, snapshot(t, root)) || !maps.Equal(units, unitStates(t)) {
				t.Error("not everything came back")
			}
		})
	}
}

// A design that pins interrupts and leaves irqbalance alone cannot be carried out
// where it runs, and the way out is named.
func TestDesignsThatPinSayWhatStandsInTheirWay(t *testing.T) {
	d := c8i32xlarge
	root := d.tree(t)
	put(t, root, "/proc/812/comm", "irqbalance\n")
	err := Reach("irq-pin", []string{"--dev", d.dev, "--cpus", "112-127"})
	if err == nil || !strings.Contains(err.Error(), "irqbalance runs (process 812)") ||
		!strings.Contains(err.Error(), "tune-irqbalance.sh apply") {
		t.Errorf("%v", err)
	}
	// The interface's name is found and not assumed: enp95s0 here, where a c6i has
	// ens5.
	if err := Reach("rps", []string{"--dev", "ens5"}); err == nil ||
		!strings.Contains(err.Error(), "no interface ens5 here") {
		t.Errorf("%v", err)
	}
}
