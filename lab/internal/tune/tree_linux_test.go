package tune

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/cores"
)

// A model describes a made-up tree. The tests have no access to the entries'
// machines, so the trees are made up as the kernel's documentation says
// (ABI/testing/sysfs-class-net-queues, sysfs-bus-pci, filesystems/proc), with
// the numbers that the entries print. They show what is written where; the
// tests in real namespaces show that a kernel accepts it.
type model struct {
	cores, queues int
	dev           string
	firstIRQ      int // of the queues; the management vector is the one before
}

var (
	c8i32xlarge = model{cores: 128, queues: 16, dev: "enp95s0", firstIRQ: 143}
	c6i2xlarge  = model{cores: 8, queues: 8, dev: "ens5", firstIRQ: 28}
	c6in8xlarge = model{cores: 32, queues: 16, dev: "ens5", firstIRQ: 40}
)

const (
	madeUpBoot  = "11111111-1111-4111-8111-111111111111"
	madeUpShell = 4711
)

// tree makes a tree and makes this process use it in place of /proc and /sys.
func (d model) tree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	all := fmt.Sprintf("0-%d", d.cores-1)
	none, err := cores.Mask(nil, d.cores)
	if err != nil {
		t.Fatal(err)
	}
	put(t, root, cpuDir+"possible", all+"\n")
	put(t, root, cpuDir+"online", all+"\n")

	pci := "/sys/devices/pci0000:00/0000:00:05.0"
	dev := pci + "/net/" + d.dev
	put(t, root, dev+"/ifindex", "2\n")
	put(t, root, dev+"/mtu", "9001\n")
	put(t, root, dev+"/address", "02:00:00:00:00:01\n")
	for q := range d.queues {
		put(t, root, fmt.Sprintf("%s/queues/rx-%d/rps_cpus", dev, q), none+"\n")
		put(t, root, fmt.Sprintf("%s/queues/rx-%d/rps_flow_cnt", dev, q), "0\n")
		put(t, root, fmt.Sprintf("%s/queues/tx-%d/xps_cpus", dev, q), none+"\n")
	}
	link(t, root, netDir+d.dev, "../../devices/pci0000:00/0000:00:05.0/net/"+d.dev)
	link(t, root, dev+"/device", "../../../0000:00:05.0")

	var table strings.Builder
	table.WriteString("     ")
	for c := range d.cores {
		fmt.Fprintf(&table, "%11s", fmt.Sprintf("CPU%d", c))
	}
	table.WriteString("\n")
	row := func(irq, name, chip, action string) {
		fmt.Fprintf(&table, "%4s:", irq)
		for c := range d.cores {
			fmt.Fprintf(&table, "%11d", c)
		}
		fmt.Fprintf(&table, "  %s %s      %s\n", chip, name, action)
	}
	row("4", "4-edge", "IO-APIC", "ttyS0")
	row("24", "0-edge", "PCI-MSIX-0000:00:04.0", "nvme0q0")
	for i := range d.queues + 1 {
		irq := d.firstIRQ - 1 + i
		put(t, root, fmt.Sprintf("%s/msi_irqs/%d", pci, irq), "msix\n")
		put(t, root, fmt.Sprintf("/proc/irq/%d/smp_affinity_list", irq), all+"\n")
		action := "ena-mgmnt@pci:0000:00:05.0"
		if i > 0 {
			action = fmt.Sprintf("%s-Tx-Rx-%d", d.dev, i-1)
		}
		row(fmt.Sprint(irq), fmt.Sprintf("%d-edge", i), "PCI-MSIX-0000:00:05.0", action)
	}
	row("NMI", "", "Non-maskable", "interrupts")
	table.WriteString(" ERR:          0\n")
	put(t, root, "/proc/interrupts", table.String())

	for name, value := range map[string]string{
		"kernel/random/boot_id":          madeUpBoot,
		"net/core/rps_sock_flow_entries": "0", "net/core/somaxconn": "4096", "net/core/netdev_max_backlog": "1000",
		"net/ipv4/tcp_max_syn_backlog": "4096", "net/ipv4/ip_local_port_range": "32768\t60999",
		"net/ipv4/tcp_tw_reuse": "2", "net/ipv4/tcp_fin_timeout": "60",
	} {
		put(t, root, sysctlDir+name, value+"\n")
	}
	enter(t, root, initialNet)
	put(t, root, fmt.Sprintf("/proc/%d/comm", madeUpShell), "bash\n")
	put(t, root, fmt.Sprintf("/proc/%d/stat", madeUpShell),
		fmt.Sprintf("%d (ba) sh) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 8128 0 0\n", madeUpShell))

	t.Setenv(treeVariable, root)
	t.Setenv("LINE_RATE_STATE", filepath.Join(t.TempDir(), "state"))
	services(t, "irqbalance", "crond")
	return root
}

// The initial network namespace of a tree, as the kernel numbers it today.
const initialNet = 4026531833

func enter(t *testing.T, root string, inode int) {
	t.Helper()
	name := root + "/proc/self/ns/net"
	_ = os.Remove(name)
	link(t, root, "/proc/self/ns/net", fmt.Sprintf("net:[%d]", inode))
}

// leave puts the made-up process into another network namespace, which lacks
// some files.
func leave(t *testing.T, root string, inode int) {
	t.Helper()
	enter(t, root, inode)
	if err := os.Rename(root+backlogFile, root+"/aside"); err != nil {
		t.Fatal(err)
	}
}

// comeBack puts it into the initial namespace again.
func comeBack(t *testing.T, root string) {
	t.Helper()
	enter(t, root, initialNet)
	if err := os.Rename(root+"/aside", root+backlogFile); err != nil {
		t.Fatal(err)
	}
}

// services makes a systemctl with the named services, all of them running.
func services(t *testing.T, names ...string) (state string) {
	t.Helper()
	bin, state := t.TempDir(), t.TempDir()
	for _, n := range names {
		put(t, state, "/"+n, "active\n")
	}
	script := `#!/bin/sh
eval unit=\${$#}
state='` + state + `'/$unit
case $1 in
  show) if [ -e "$state" ]; then echo loaded; else echo not-found; fi ;;
  is-active) cat "$state" 2>/dev/null || { echo inactive; exit 4; }; grep -qx active "$state" || exit 3 ;;
  start) echo active >"$state"; [ ! -e "$state.start" ] || . "$state.start" ;;
  stop) echo inactive >"$state"; [ ! -e "$state.stop" ] || . "$state.stop" ;;
  *) echo "unknown verb $1" >&2; exit 1 ;;
esac
`
	if err := os.WriteFile(filepath.Join(bin, "systemctl"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return state
}

func put(t *testing.T, root, path, text string) {
	t.Helper()
	name := root + path
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, root, path, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(root+path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(to, root+path); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, root, path string) string {
	t.Helper()
	b, err := os.ReadFile(root + path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// snapshot has every file of some directories, byte for byte.
func snapshot(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(path)
			all[path] = string(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}
