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
func planned(t *testing.T, knob string, o Options) (lines []string) {
	t.Helper()
	k, err := find(knob)
	if err != nil {
		t.Fatal(err)
	}
	m, err := here()
	if err != nil {
		t.Fatal(err)
	}
	changes, err := k.changes(m, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		lines = append(lines, c.path+" "+plain(c.want))
	}
	return lines
}

func TestWhatEachKnobWrites(t *testing.T) {
	queues := func(d model, file, value string) (lines []string) {
		for q := range d.queues {
			lines = append(lines, fmt.Sprintf("%s%s/queues/rx-%d/%s %s", netDir, d.dev, q, file, value))
		}
		return lines
	}
	pinned := func(d model, cpus ...int) (lines []string) {
		for q := range d.queues {
			lines = append(lines, fmt.Sprintf("/proc/irq/%d/smp_affinity_list %d", d.firstIRQ+q, cpus[q%len(cpus)]))
		}
		return lines
	}
	big, small := c8i32xlarge, c6i2xlarge
	for _, c := range []struct {
		on   model
		knob string
		Options
		want []string
	}{
		{big, "rps", Options{Dev: big.dev, CPUs: "112-127"}, queues(big, "rps_cpus", "ffff0000,00000000,00000000,00000000")},
		{big, "rps", Options{Dev: big.dev}, queues(big, "rps_cpus", "ffffffff,ffffffff,ffffffff,ffffffff")},
		{small, "rps", Options{Dev: small.dev}, queues(small, "rps_cpus", "ff")},
		{small, "rps", Options{Dev: small.dev, CPUs: "0,2-3"}, queues(small, "rps_cpus", "0d")},
		{big, "rfs", Options{Dev: big.dev}, append([]string{tableFile + " 32768"}, queues(big, "rps_flow_cnt", "2048")...)},
		{small, "rfs", Options{Dev: small.dev, Entries: 65536, QueuesOnly: true}, queues(small, "rps_flow_cnt", "8192")},
		{small, "rfs", Options{TableOnly: true}, []string{tableFile + " 32768"}},
		{big, "irq-pin", Options{Dev: big.dev, CPUs: "112-127"}, pinned(big, 112, 113, 114, 115, 116, 117, 118, 119, 120,
			121, 122, 123, 124, 125, 126, 127)},
		{small, "irq-pin", Options{Dev: small.dev, CPUs: "7,6"}, pinned(small, 7, 6)},
		{small, "irqbalance", Options{}, []string{"systemctl:irqbalance.service inactive"}},
		{small, "crond", Options{}, []string{"systemctl:crond.service inactive"}},
	} {
		c.on.tree(t)
		if got := planned(t, c.knob, c.Options); !slices.Equal(got, c.want) {
			t.Errorf("%s %q\nwrites\n%s\nwant\n%s", c.knob, c.Args(), strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func TestWhatDoesNotFitIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	d := c6i2xlarge
	for _, c := range []struct {
		knob string
		Options
		words  string
		reason bool // whether it is a reason why a claim cannot be tried here, rather than a wrong call
	}{
		{"rps", Options{Dev: "ens5", CPUs: "8"}, "this machine has no core 8: 0-7 are online", true},
		{"rps", Options{Dev: "ens5", CPUs: "6-9"}, "no core 8", true},
		{"irq-pin", Options{Dev: "ens5", CPUs: "112-127"}, "no core 112", true},
		{"rps", Options{Dev: "enp95s0"}, "no interface enp95s0 here", true},
		{"rps", Options{Dev: ".."}, "no interface .. here", true},
		{"rps", Options{}, "--dev is missing", false},
		{"rps", Options{Dev: "ens5", Entries: 8}, "it takes no --entries", false},
		{"rps", Options{Dev: "ens5", CPUs: "two"}, "is not a list of CPUs", false},
		{"rps", Options{Dev: "tun0"}, "tun0 has no receive queues", true},
		{"rfs", Options{Dev: "ens5", Entries: 30000}, "30000 is no power of two", false},
		{"rfs", Options{Dev: "ens5", Entries: -4}, "-4 is no power of two", false},
		{"rfs", Options{Dev: "ens5", Entries: 4}, "too few for the 8 receive queues", false},
		{"rfs", Options{TableOnly: true, QueuesOnly: true}, "leave nothing to do", false},
		{"irq-pin", Options{Dev: "ens5"}, "--cpus is missing", false},
		{"irq-pin", Options{Dev: "tun0", CPUs: "1"}, "tun0 has no message-signalled interrupt", true},
		{"rsp", Options{}, `no knob "rsp"; did you mean "rps"?`, false},
	} {
		root := d.tree(t)
		put(t, root, netDir+"tun0/ifindex", "4\n")
		for _, action := range []string{"plan", "apply", "hold"} {
			refused(t, root, c.words, action, c.knob, c.Options)
		}
		nothingHeld(t)
		if err := Reach(c.knob, &c.Options); err == nil || errors.As(err, new(Unavailable)) != c.reason || !strings.Contains(err.Error(), c.words) {
			t.Errorf("Reach says %v; a reason: %v", err, c.reason)
		}
	}
}

func TestServices(t *testing.T) {
	root := c6i2xlarge.tree(t)
	t.Setenv("PATH", t.TempDir())
	refused(t, root, "there is no systemctl here", "apply", "irqbalance", Options{})
	bin := t.TempDir()
	if err := os.WriteFile(bin+"/systemctl", []byte("#!/bin/sh\necho 'System has not been booted with systemd.\nFailed' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":/bin:/usr/bin")
	refused(t, root, "not been booted with systemd", "apply", "crond", Options{})
	services(t, "cron")
	put(t, root, "/proc/90/comm", "cron\n")
	if got := planned(t, "crond", Options{}); !slices.Equal(got, []string{"systemctl:cron.service inactive"}) {
		t.Errorf("%q", got)
	}
}

func TestInterruptsAreNotPinnedWhileIrqbalanceRuns(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	put(t, root, "/proc/812/comm", "irqbalance\n")
	o := Options{Dev: d.dev, CPUs: "0"}
	refused(t, root, "irqbalance runs (process 812) and would move the interrupts again; stop it first: tune-irqbalance.sh apply", "apply", "irq-pin", o)
	if err := Reach("irq-pin", &o); !errors.As(err, new(Unavailable)) {
		t.Errorf("Reach: %v", err)
	}
	// The plan is printed, with the reason why apply would refuse it.
	if out := must(t, "plan", "irq-pin", o); !strings.Contains(out, "apply would refuse: irqbalance runs") {
		t.Errorf("%s", out)
	}
}

// As on a virtual machine: the interface is a child of the device that has the
// interrupts, and the first vector is for configuration.
func TestInterruptsOfVirtio(t *testing.T) {
	root := model{cores: 2, dev: "eth0", firstIRQ: 36}.tree(t)
	pci := "/sys/devices/pci0000:00/0000:00:05.0"
	if err := os.Remove(root + pci + "/net/eth0/device"); err != nil {
		t.Fatal(err)
	}
	put(t, root, pci+"/virtio2/status", "0x0000000f\n")
	link(t, root, pci+"/net/eth0/device", "../../virtio2")
	for i, action := range []string{"virtio2-config", "virtio2-input.0", "virtio2-output.0"} {
		interrupt(t, root, pci, 37+i, action, "0-1\n")
	}
	want := []string{"/proc/irq/38/smp_affinity_list 1", "/proc/irq/39/smp_affinity_list 0"}
	if got := planned(t, "irq-pin", Options{Dev: "eth0", CPUs: "1,0"}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestQueuesAreToldFromManagementByName(t *testing.T) {
	for _, c := range []struct {
		action, dev string
		want        bool
	}{
		{"ens5-Tx-Rx-0", "ens5", true},
		{"enp95s0-Tx-Rx-15", "enp95s0", true},
		{"ena-mgmnt@pci:0000:00:05.0", "ens5", false},
		{"virtio2-config", "eth0", false},
		{"virtio2-output.11", "eth0", true},
		{"mlx5_comp3@pci:0000:05:00.0", "eth1", true},
		{"mlx5_async0@pci:0000:05:00.0", "eth1", false},
		{"eth0-TxRx-3", "eth0", true},
		{"eth0", "eth0", false}, // the link interrupt, as of igb and ixgbe
		{"i40e-eth0-TxRx-3", "eth0", true},
		{"i40e-0000:05:00.0:misc", "eth0", false},
		{"gve-ntfy-blk0@pci:0000:00:04.0", "ens4", true},
		{"gve-mgmnt@pci:0000:00:04.0", "ens4", false},
		{"eth-fw0-TxRx-1", "eth-fw0", true}, // the interface's name may contain any word
		{"", "eth0", false},
	} {
		if got := ofQueue(c.action, c.dev); got != c.want {
			t.Errorf("%q of %s: %v", c.action, c.dev, got)
		}
	}
}

func TestValuesNameWhatTheKnobsTurn(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	same := func(when string, want map[string]string) {
		t.Helper()
		v := Values(root)
		for name, value := range want {
			if v[name] != value {
				t.Errorf("%s: %s is %q, want %q", when, name, v[name], value)
			}
		}
		if len(v) != 6 || strings.Contains(fmt.Sprint(v), d.dev) {
			t.Errorf("%s: %v", when, v)
		}
	}
	same("at first", map[string]string{"rps_cpus": "00", "rps_flow_cnt": "0", "queues": "rx 8 tx 8",
		"irqbalance": "does not run", "crond": "does not run", "smp_affinity_list": "0-7"})
	must(t, "apply", "rps", Options{Dev: d.dev, CPUs: "1-2"})
	must(t, "apply", "irq-pin", Options{Dev: d.dev, CPUs: "6-7"})
	put(t, root, "/proc/600/comm", "irqbalance\n")
	same("turned", map[string]string{"rps_cpus": "06", "smp_affinity_list": "0-7; 6; 7", "irqbalance": "runs"})
	if !Runs("irqbalance") || Runs("crond") || Runs("rps") {
		t.Error("what runs")
	}
	if empty := Values(t.TempDir()); empty["rps_cpus"] != "" {
		t.Errorf("of nothing: %v", empty)
	}
}
