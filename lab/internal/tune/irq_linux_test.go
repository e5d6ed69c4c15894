package tune

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestInterruptsAreNotPinnedWhileIrqbalanceRuns(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	put(t, root, "/proc/812/comm", "irqbalance\n")
	refused(t, root, "irqbalance runs (process 812)", "irq-pin", "apply", "--dev", d.dev, "--cpus", "0")
	refused(t, root, "tune-irqbalance.sh apply", "irq-pin", worker, "--dev", d.dev, "--cpus", "0")
	if err := Reach("irq-pin", []string{"--dev", d.dev, "--cpus", "0"}); !errors.As(err, new(Unavailable)) {
		t.Errorf("Reach: %v", err)
	}
	// The plan is printed, with the reason why apply would refuse it.
	if out := must(t, "irq-pin", "--dev", d.dev, "--cpus", "0"); !strings.Contains(out,
		"apply would refuse: irqbalance runs") {
		t.Errorf("%s", out)
	}
}

// As on a virtual machine: the interface is a child of the device that has the
// interrupts, and the first vector is for configuration.
func TestInterruptsOfVirtio(t *testing.T) {
	d := model{cores: 2, queues: 1, dev: "eth0", firstIRQ: 38}
	root := d.tree(t)
	pci := "/sys/devices/pci0000:00/0000:00:05.0"
	if err := os.Remove(root + pci + "/net/eth0/device"); err != nil {
		t.Fatal(err)
	}
	put(t, root, pci+"/virtio2/status", "0x0000000f\n")
	link(t, root, pci+"/net/eth0/device", "../../virtio2")
	put(t, root, pci+"/msi_irqs/39", "msix\n")
	put(t, root, "/proc/irq/39/smp_affinity_list", "0-1\n")
	put(t, root, "/proc/interrupts", `           CPU0       CPU1       
 26:          0         13  IO-APIC   4-edge      ttyS0
 36:          0    3376688 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
 37:          0          0 PCI-MSIX-0000:00:05.0   0-edge      virtio2-config
 38:          0     138430 PCI-MSIX-0000:00:05.0   1-edge      virtio2-input.0
 39:     127031          0 PCI-MSIX-0000:00:05.0   2-edge      virtio2-output.0
NMI:          0          0   Non-maskable interrupts
`)
	want := []string{"/proc/irq/38/smp_affinity_list 1", "/proc/irq/39/smp_affinity_list 0"}
	if got := planned(t, "irq-pin", "--dev", "eth0", "--cpus", "1,0"); !slices.Equal(got, want) {
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
		{"virtio2-input.0", "eth0", true},
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

func FuzzInterrupts(f *testing.F) {
	f.Add("           CPU0       CPU1       \n 38:          0     138430 PCI-MSIX-0000:00:05.0   1-edge      "+
		"virtio2-input.0\n", "eth0")
	f.Add("\n1: 2 3 4", "")
	f.Fuzz(func(t *testing.T, text, dev string) {
		for n, action := range interrupts(text) {
			if action == "" || strings.ContainsAny(action, " \n") {
				t.Fatalf("interrupt %d is %q", n, action)
			}
			if ofQueue(action, dev) && action == dev {
				t.Fatalf("%q is the link's", action)
			}
		}
	})
}
