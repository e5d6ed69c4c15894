package tune

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// turned applies a knob and lists what that has turned, a path and a value a line.
func turned(t *testing.T, knob string, o Options) []string {
	t.Helper()
	must(t, "apply", knob, o)
	all, err := All()
	if err != nil {
		t.Error(err)
	}
	return strict.Map(all, func(l Left) string { return l.Path + " " + plain(l.Now) })
}

// The whole life of each knob, on made-up machines.
func TestEachKnobIsTurnedAndTurnedBack(t *testing.T) {
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
		{small, "rfs", Options{Dev: small.dev, Entries: 4, QueuesOnly: true}, queues(small, "rps_flow_cnt", "1")},
		{model{cores: 2, queues: 3, dev: "eth0"}, "rfs", Options{Dev: "eth0", QueuesOnly: true},
			queues(model{queues: 3, dev: "eth0"}, "rps_flow_cnt", "16384")},
		{small, "rfs", Options{TableOnly: true}, []string{tableFile + " 32768"}},
		{big, "irq-pin", Options{Dev: big.dev, CPUs: "112-127"}, pinned(big, 112, 113, 114, 115, 116, 117, 118, 119, 120,
			121, 122, 123, 124, 125, 126, 127)},
		{small, "irq-pin", Options{Dev: small.dev, CPUs: "7,6"}, pinned(small, 7, 6)},
		{small, "irqbalance", Options{}, []string{"systemctl:irqbalance.service inactive"}},
		{small, "crond", Options{}, []string{"systemctl:crond.service inactive"}},
	} {
		_, isBack := c.on.tree(t)
		says := func(action string, o Options, what string) {
			t.Helper()
			if out := must(t, action, c.knob, o); !strings.Contains(out, what) || strings.Contains(out, "refuse") {
				t.Errorf("%s %s: %q; want %q", action, c.knob, out, what)
			}
		}
		if err := errors.Join(Reach(c.knob, &c.Options), Reach(c.knob, nil)); err != nil {
			t.Error(err)
		}
		says("plan", c.Options, "plan: "+words.Count(len(c.want), "write")+"; nothing was changed\n")
		isBack("plan")
		nothingHeld(t)
		if got := turned(t, c.knob, c.Options); !slices.Equal(got, c.want) {
			t.Errorf("%s %q\nwrites\n%s\nwant\n%s", c.knob, c.Args(), strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		says("plan", c.Options, "plan: 0 writes")
		says("apply", c.Options, words.Count(len(c.want), "value")+" as wanted, all read back; originals are in "+stateDir())
		says("restore", Options{}, words.Count(len(c.want), "original")+" restored, all read back")
		isBack("restore")
		nothingHeld(t)
		says("restore", Options{}, "0 originals restored")
	}
}

func TestWhatDoesNotFitIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	for _, c := range []struct {
		knob string
		Options
		words string
	}{
		{"rps", Options{Dev: "ens5", CPUs: "6-9"}, "this machine has no core 8: 0-7 are online"},
		{"rps", Options{Dev: "enp95s0"}, `there is no interface "enp95s0" here`},
		{"irq-pin", Options{Dev: "*", CPUs: "1"}, `no interface "*" here`},
		{"rps", Options{Dev: ".."}, `no interface ".." here`},
		{"rps", Options{}, `--dev: there is no interface ""`},
		{"rps", Options{Dev: "ens5", Entries: 8}, "it takes no --entries"},
		{"rps", Options{Dev: "ens5", CPUs: "two"}, "is not a list of CPUs"},
		{"rps", Options{Dev: "tun0"}, "tun0 has no receive queues"},
		{"rfs", Options{Dev: "tun0"}, "tun0 has no receive queues"},
		{"rfs", Options{Dev: "ens5", Entries: 30000}, "30000 is no power of two"},
		{"rfs", Options{Dev: "ens5", Entries: -4}, "-4 is no power of two"},
		{"irq-pin", Options{Dev: "ens5"}, "--cpus is missing"},
		{"irq-pin", Options{Dev: "tun0", CPUs: "1"}, "tun0 has no message-signalled interrupt"},
		{"rsp", Options{}, `no knob "rsp"; did you mean "rps"?`},
	} {
		root, _ := c6i2xlarge.tree(t)
		put(t, root+netDir+"tun0/ifindex", "4\n")
		for _, action := range []string{"plan", "apply", "hold"} {
			refused(t, c.words, action, c.knob, c.Options)
		}
		nothingHeld(t)
		if err := Reach(c.knob, &c.Options); err == nil || !strings.Contains(err.Error(), c.words) {
			t.Errorf("Reach says %v", err)
		}
	}
}

func TestServices(t *testing.T) {
	root, _ := c6i2xlarge.tree(t)
	put(t, root+"/proc/90/comm", "cron\n")
	put(t, root+"/proc/91/comm", "irqbalance\n")
	if !Runs("irqbalance") || !Runs("crond") || Runs("rps") {
		t.Error("what runs")
	}
	put(t, root+"/services/cron.service", "active\n")
	if got := turned(t, "crond", Options{}); !slices.Equal(got, []string{"systemctl:cron.service inactive"}) {
		t.Errorf("%q", got)
	}
	pin := Options{Dev: "ens5", CPUs: "0"}
	refused(t, "irqbalance runs and would set /proc/irq/28/smp_affinity_list again; stop it first", "apply", "irq-pin", pin)
	if out := must(t, "plan", "irq-pin", pin); !strings.Contains(out, "apply would refuse: irqbalance runs") || Reach("irq-pin", &pin) == nil {
		t.Errorf("%s", out)
	}
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	refused(t, `"systemctl": executable file not found`, "apply", "irqbalance", Options{})
	put(t, bin+"/systemctl", "#!/bin/sh\necho 'System has not been booted with systemd.\nFailed' >&2\nexit 1\n")
	refused(t, "not been booted with systemd", "apply", "crond", Options{})
}

// As on a virtual machine: the interface is a child of the device that has the
// interrupts, and the first vector is for configuration.
func TestInterruptsOfVirtio(t *testing.T) {
	root, _ := model{cores: 2, dev: "eth0", firstIRQ: 36}.tree(t)
	put(t, root+pci+"/virtio2/status", "0x0000000f\n")
	link(t, root+pci+"/net/eth0/device", "../../virtio2")
	for i, action := range []string{"virtio2-config", "virtio2-input.0", "virtio2-output.0"} {
		interrupt(t, root, 37+i, action, "0-1\n")
	}
	want := []string{"/proc/irq/38/smp_affinity_list 1", "/proc/irq/39/smp_affinity_list 0"}
	if got := turned(t, "irq-pin", Options{Dev: "eth0", CPUs: "1,0"}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestQueuesAreToldFromManagementByName(t *testing.T) {
	for i, action := range strings.Fields("ens5-Tx-Rx-0 virtio2-output.11 mlx5_comp3@pci:0000:05:00.0 i40e-eth0-TxRx-3 " +
		"gve-ntfy-blk0@pci:0000:00:04.0 eth-fw0-TxRx-1 ena-mgmnt@pci:0000:00:05.0 virtio2-config mlx5_async0@pci:0000:05:00.0 " +
		"eth-fw0 i40e-0000:05:00.0:misc gve-mgmnt@pci:0000:00:04.0") {
		// An interface's name may contain any word; alone it is that of the link interrupt, as of igb and ixgbe.
		if got := ofQueue(action, "eth-fw0"); got != (i < 6) {
			t.Errorf("%q: %v", action, got)
		}
	}
}

func TestValuesNameWhatTheKnobsTurn(t *testing.T) {
	root, _ := c6i2xlarge.tree(t)
	want := map[string]string{"rps_cpus": "0", "rps_flow_cnt": "0", "queues": "rx 8 tx 8",
		"irqbalance": "does not run", "crond": "does not run", "smp_affinity_list": "0-7"}
	if got := Values(root); !maps.Equal(got, want) {
		t.Errorf("at first %v, want %v", got, want)
	}
	must(t, "apply", "rps", Options{Dev: "ens5", CPUs: "1-2"})
	must(t, "apply", "irq-pin", Options{Dev: "ens5", CPUs: "6-7"})
	put(t, root+"/proc/600/comm", "irqbalance\n")
	want["rps_cpus"], want["smp_affinity_list"], want["irqbalance"] = "06", "0-7; 6; 7", "runs"
	if got := Values(root); !maps.Equal(got, want) {
		t.Errorf("turned %v, want %v", got, want)
	}
	if empty := Values(t.TempDir()); len(empty) != 2 {
		t.Errorf("of nothing: %v", empty)
	}
}
