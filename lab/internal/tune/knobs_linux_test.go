package tune

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// planned lists what a plan writes, a path and a value a line.
func planned(t *testing.T, args ...string) []string {
	t.Helper()
	call, err := Read(args)
	if err != nil {
		t.Fatal(err)
	}
	m, err := here()
	if err != nil {
		t.Fatal(err)
	}
	changes, err := call.knob.plan(m, &call.options)
	if err != nil {
		t.Fatalf("%q: %v", args, err)
	}
	var lines []string
	for _, c := range changes {
		lines = append(lines, c.target.Path+" "+plain(c.want))
	}
	return lines
}

func TestWhatEachKnobWrites(t *testing.T) {
	queue := func(dev, format string, values ...string) []string {
		var lines []string
		for i, v := range values {
			lines = append(lines, netDir+dev+"/queues/"+fmt.Sprintf(format, i)+" "+v)
		}
		return lines
	}
	var pinned []string
	for i := range 16 {
		pinned = append(pinned, fmt.Sprintf("/proc/irq/%d/smp_affinity_list %d", 143+i, 112+i))
	}
	for _, c := range []struct {
		on   model
		args string
		want []string
	}{
		{c8i32xlarge, "rps --dev enp95s0 --cpus 112-127",
			queue("enp95s0", "rx-%d/rps_cpus", slices.Repeat([]string{"ffff0000,00000000,00000000,00000000"}, 16)...)},
		{c8i32xlarge, "rps --dev enp95s0", queue("enp95s0", "rx-%d/rps_cpus",
			slices.Repeat([]string{"ffffffff,ffffffff,ffffffff,ffffffff"}, 16)...)},
		{c6i2xlarge, "rps --dev ens5", queue("ens5", "rx-%d/rps_cpus", slices.Repeat([]string{"ff"}, 8)...)},
		{c6i2xlarge, "rps --dev ens5 --cpus 0,2-3", queue("ens5", "rx-%d/rps_cpus", slices.Repeat([]string{"0d"}, 8)...)},
		{c8i32xlarge, "rfs --dev enp95s0", append([]string{tableFile + " 32768"},
			queue("enp95s0", "rx-%d/rps_flow_cnt", slices.Repeat([]string{"2048"}, 16)...)...)},
		{c6i2xlarge, "rfs --dev ens5 --entries 65536 --queues-only",
			queue("ens5", "rx-%d/rps_flow_cnt", slices.Repeat([]string{"8192"}, 8)...)},
		{c6i2xlarge, "rfs --table-only", []string{tableFile + " 32768"}},
		{c8i32xlarge, "irq-pin --dev enp95s0 --cpus 112-127", pinned},
		{c6i2xlarge, "irq-pin --dev ens5 --cpus 7,6", []string{
			"/proc/irq/28/smp_affinity_list 7", "/proc/irq/29/smp_affinity_list 6", "/proc/irq/30/smp_affinity_list 7",
			"/proc/irq/31/smp_affinity_list 6",
			"/proc/irq/32/smp_affinity_list 7", "/proc/irq/33/smp_affinity_list 6", "/proc/irq/34/smp_affinity_list 7",
			"/proc/irq/35/smp_affinity_list 6",
		}},
		{c6i2xlarge, "irqbalance", []string{"systemctl:irqbalance.service inactive"}},
		{c6i2xlarge, "crond", []string{"systemctl:crond.service inactive"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			c.on.tree(t)
			if got := planned(t, strings.Fields(c.args)...); !slices.Equal(got, c.want) {
				t.Errorf("%s\nwrites\n%s\nwant\n%s", c.args, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestWhatDoesNotFitIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	for _, c := range []struct {
		on     model
		args   string
		words  string
		reason bool // whether it is a reason why a claim cannot be tried here, rather than a wrong call
	}{
		{c6i2xlarge, "rps apply --dev ens5 --cpus 8", "this machine has no core 8: 0-7 are online", true},
		{c6i2xlarge, "rps apply --dev ens5 --cpus 6-9", "no core 8", true},
		{c6i2xlarge, "irq-pin apply --dev ens5 --cpus 112-127", "no core 112", true},
		{c6i2xlarge, "rps apply --dev enp95s0", "no interface enp95s0 here", true},
		{c6i2xlarge, "rps apply --dev ..", "is no name of an interface", false},
		{c6i2xlarge, "rps apply", "--dev is missing", false},
		{c6i2xlarge, "rps apply --dev ens5 --cpus two", "is not a list of CPUs", false},
		{c6i2xlarge, "rps apply --dev ens5 --cpus 1,1", "names core 1 twice", false},
		{model{cores: 2, dev: "tun0"}, "rps apply --dev tun0", "tun0 has no receive queues", true},
		{c6i2xlarge, "rfs apply --dev ens5 --entries 30000", "30000 is no power of two", false},
		{c6i2xlarge, "rfs apply --dev ens5 --entries 0", "0 is no power of two", false},
		{c6i2xlarge, "rfs apply --dev ens5 --entries 1073741824", "is no power of two up to", false},
		{c6i2xlarge, "rfs apply --dev ens5 --entries 4", "too few for the 8 receive queues", false},
		{c6i2xlarge, "rfs apply --table-only --queues-only", "leave nothing to do", false},
		{c6i2xlarge, "irq-pin apply --dev ens5", "--cpus is missing", false},
	} {
		t.Run(c.args, func(t *testing.T) {
			root := c.on.tree(t)
			args := strings.Fields(c.args)
			refused(t, root, c.words, args...)
			hold := slices.Clone(args)
			hold[1] = worker
			refused(t, root, c.words, hold...)
			err := Reach(args[0], args[2:])
			if c.words == "--dev is missing" {
				return // without arguments Reach checks only the knob as such
			}
			if err == nil || errors.As(err, new(Unavailable)) != c.reason || !strings.Contains(err.Error(), c.words) {
				t.Errorf("Reach says %v; a reason: %v", err, c.reason)
			}
		})
	}
}

func TestReachIsNilWhereAKnobCanBeTurned(t *testing.T) {
	for _, d := range []model{c8i32xlarge, c6i2xlarge} {
		root := d.tree(t)
		before := snapshot(t, root)
		for _, turn := range d.turns() {
			if err := Reach(turn[0], turn[1:]); err != nil {
				t.Errorf("%s: %v", turn[0], err)
			}
			if err := Reach(turn[0], nil); err != nil {
				t.Errorf("%s, as such: %v", turn[0], err)
			}
		}
		if len(snapshot(t, root)) != len(before) {
			t.Error("Reach wrote something")
		}
	}
	if err := Reach("rsp", nil); err == nil || errors.As(err, new(Unavailable)) {
		t.Errorf("a knob that there is not: %v", err)
	}
}

func TestTheTableIsOutOfReachInANamespace(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	leave(t, root, 4026532000)
	if err := os.Remove(root + tableFile); err != nil {
		t.Fatal(err)
	}
	refused(t, root, "use --queues-only here, and --table-only there", "rfs", "apply", "--dev", d.dev)
	must(t, "rfs", "apply", "--dev", d.dev, "--queues-only")
	must(t, "sysctl", "apply", "--cpus", "net.core.somaxconn=1")
	must(t, "restore")
}

func TestServicesWithoutSystemd(t *testing.T) {
	root := c6i2xlarge.tree(t)
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	refused(t, root, "there is no systemctl here", "irqbalance", "apply")
	if err := os.WriteFile(bin+"/systemctl",
		[]byte("#!/bin/sh\necho 'System has not been booted with systemd as init system (PID 1). Can'\"'\"'t "+
			"operate.\nFailed to connect' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":/bin:/usr/bin")
	refused(t, root, "not been booted with systemd", "crond", "apply")
	services(t, "irqbalance", "cron")
	if got := planned(t, "crond"); !slices.Equal(got, []string{"systemctl:cron.service inactive"}) {
		t.Errorf("Debian calls it %q", got)
	}
	services(t, "irqbalance")
	refused(t, root, "no service crond or cron", "crond", "apply")
}

// The value read back may look different from the one written and mean the
// same.
func TestSameMeansTheSame(t *testing.T) {
	for _, c := range []struct {
		path, a, b string
		want       bool
	}{
		{netDir + "x/queues/rx-0/rps_cpus", "3\n", "00,00000003\n", true},
		{netDir + "x/queues/rx-0/rps_cpus", "FF\n", "00,000000ff\n", true},
		{netDir + "x/queues/rx-0/rps_cpus", "1,00000000\n", "00,00000001\n", false},
		{"/proc/irq/9/smp_affinity_list", "0-3\n", "0,1,2,3\n", true},
		{"/proc/irq/9/smp_affinity_list", "2,0\n", "0,2\n", true},
		{"/proc/irq/9/smp_affinity_list", "0\n", "0-1\n", false},
		{sysctlDir + "net/ipv4/ip_local_port_range", "1024 65535\n", "1024\t65535\n", true},
		{sysctlDir + "net/ipv4/ip_local_port_range", "1024 65535\n", "1024\t65534\n", false},
		{sysctlDir + "net/core/somaxconn", "10\n", "010\n", false},
	} {
		if got := (target{Path: c.path}).same(c.a, c.b); got != c.want {
			t.Errorf("%s: %q and %q are the same: %v", c.path, c.a, c.b, got)
		}
	}
}
