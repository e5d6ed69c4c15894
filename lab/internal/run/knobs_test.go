package run

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/tune"
)

// committed reads one of the journal's own designs.
func committed(t *testing.T, name string) *experiment.Experiment {
	t.Helper()
	x, err := experiment.Load("../../experiments/" + name + ".toml")
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// A run records a condition's kernel settings as command lines, in the order of changing
// them; inside the wire's namespace where the setting is per namespace, else outside.
func TestKnobsStandBeforeTheServer(t *testing.T) {
	x := committed(t, "03-rps-rfs")
	commands := func(rps, rfs bool) []string {
		s := x.Fixed().With(setting.Levels{setting.RPS: setting.Bool(rps), setting.RFS: setting.Bool(rfs)})
		all := Plan{Experiment: x}.load(s, 9000).commands()
		return all[:len(all)-2] // without server and client
	}
	for _, c := range []struct {
		rps, rfs bool
		want     []string
	}{
		{false, false, nil},
		{true, false, []string{".tools/bin/lab in-namespace SERVER -- lab/scripts/tune-rps.sh hold --dev wire-server"}},
		{true, true, []string{
			".tools/bin/lab in-namespace SERVER -- lab/scripts/tune-rps.sh hold --dev wire-server",
			"lab/scripts/tune-rfs.sh hold --table-only --entries 32768",
			".tools/bin/lab in-namespace SERVER -- lab/scripts/tune-rfs.sh hold --queues-only --dev wire-server --entries 32768",
		}},
	} {
		if got := commands(c.rps, c.rfs); !slices.Equal(got, c.want) {
			t.Errorf("rps %v, rfs %v:\n%s\nwant\n%s", c.rps, c.rfs, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func TestInterruptsAreStoppedFromMovingBeforeTheyArePinned(t *testing.T) {
	x := committed(t, "06-irq-pinning")
	p := Plan{Experiment: x, Split: machine.Split{Client: []int{3, 4, 5}}}
	s := x.Fixed().With(setting.Levels{
		setting.IRQ: setting.String("pinned"), "irqbalance": setting.Bool(false), "crond": setting.Bool(false),
		setting.RPS: setting.Bool(true), setting.RFS: setting.Bool(false),
	})
	var got []string // those of services that run here come first
	for _, k := range p.knobs(s) {
		got = append(got, strings.Join(k.line(), " "))
	}
	dev := strings.TrimSuffix(" --dev "+defaultDevice(), " --dev ")
	want := []string{"lab/scripts/tune-irq-pin.sh hold" + dev + " --cpus 3-5", // the cores that its server leaves free
		"lab/scripts/tune-rps.sh hold" + dev}
	if n := len(got) - len(want); n < 0 || !slices.Equal(got[n:], want) {
		t.Errorf("%q, want %q at the end", got, want)
	}
}

// Every row of the table has what its knob needs, so that nobody measures a knob without turning
// it, or in a group with the machine as it was.
func TestEachKnobIsTurnedAndSeparatesGroups(t *testing.T) {
	root := t.TempDir()
	for file, text := range map[string]string{"sys/class/net/eth0/device/x": "", "sys/class/net/eth0/queues/rx-0/rps_cpus": "0",
		"sys/class/net/eth0/queues/rx-0/rps_flow_cnt": "0", "sys/class/net/eth0/device/msi_irqs/40": "msi",
		"proc/irq/40/smp_affinity_list": "0"} {
		file = filepath.Join(root, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text+"\n"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	p := Plan{Experiment: committed(t, "06-irq-pinning")}
	var scripts []string
	for _, k := range setting.Knobs() {
		scripts = append(scripts, k.Script)
		on := setting.Levels{setting.Generator: setting.String(setting.HTTPLoad), k.Setting: k.At()}
		if got := experiment.Turns(on); len(got) != 1 || got[0].Script != k.Script {
			t.Errorf("%s: a condition turns %v", k.Setting, got)
		}
		if got := experiment.Groups([]setting.Levels{on, on.Without(k.Setting)}); len(got) != 2 {
			t.Errorf("%s: both levels are measured in one group: %v", k.Setting, got)
		}
		turned := p.knobs(on)
		for _, one := range turned {
			if _, err := os.Stat(filepath.Join("..", "..", "..", one.line()[0])); err != nil || one.name != k.Script {
				t.Errorf("%s is turned by %v: %v", k.Setting, one, err)
			}
		}
		if len(turned) == 0 && (!k.Service || tune.Runs(k.Script)) {
			t.Errorf("%s is not turned", k.Setting)
		}
	}
	if known := tune.Knobs(); !slices.Equal(slices.Sorted(slices.Values(scripts)), slices.Sorted(slices.Values(known))) {
		t.Errorf("designs know the knobs %v, and lab tune %v", scripts, known)
	}
	if values := tune.Values(root); len(values) != len(scripts)+1 { // and the number of queues
		t.Errorf("of the knobs %v the machine's profile records %v", scripts, values)
	}
}
