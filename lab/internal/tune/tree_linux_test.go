package tune

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
)

// tree makes a tree and makes this process use it in place of /proc and /sys.
func (d model) tree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	all := fmt.Sprintf("0-%d\n", d.cores-1)
	none, err := cores.Mask(nil, d.cores)
	if err != nil {
		t.Fatal(err)
	}
	put(t, root, cpuDir+"possible", all)
	put(t, root, cpuDir+"online", all)
	pci := "/sys/devices/pci0000:00/0000:00:05.0"
	dev := pci + "/net/" + d.dev
	put(t, root, dev+"/ifindex", "2\n")
	for q := range d.queues {
		put(t, root, fmt.Sprintf("%s/queues/rx-%d/rps_cpus", dev, q), none+"\n")
		put(t, root, fmt.Sprintf("%s/queues/rx-%d/rps_flow_cnt", dev, q), "0\n")
		put(t, root, fmt.Sprintf("%s/queues/tx-%d/xps_cpus", dev, q), none+"\n")
	}
	link(t, root, netDir+d.dev, "../../devices/pci0000:00/0000:00:05.0/net/"+d.dev)
	link(t, root, dev+"/device", "../../../0000:00:05.0")
	for i := range d.queues + 1 {
		action := "ena-mgmnt@pci:0000:00:05.0"
		if i > 0 {
			action = fmt.Sprintf("%s-Tx-Rx-%d", d.dev, i-1)
		}
		interrupt(t, root, pci, d.firstIRQ-1+i, action, all)
	}
	put(t, root, tableFile, "0\n")
	put(t, root, backlogFile, "1000\n")
	put(t, root, "/proc/4711/comm", "bash\n")
	t.Setenv(treeVariable, root)
	t.Setenv("LINE_RATE_STATE", filepath.Join(t.TempDir(), "state"))
	services(t, "irqbalance", "crond")
	return root
}

func interrupt(t *testing.T, root, pci string, irq int, action, on string) {
	t.Helper()
	put(t, root, fmt.Sprintf("%s/msi_irqs/%d", pci, irq), "msix\n")
	put(t, root, affinity(fmt.Sprint(irq)), on)
	if err := os.Mkdir(fmt.Sprintf("%s/proc/irq/%d/%s", root, irq, action), 0o755); err != nil {
		t.Fatal(err)
	}
}

// services makes a systemctl with the named services, all of them running, and gives the directory
// with their states.
func services(t *testing.T, names ...string) (states string) {
	t.Helper()
	bin, states := t.TempDir(), t.TempDir()
	for _, n := range names {
		put(t, states, "/"+n+".service", "active\n")
	}
	script := `#!/bin/sh
eval unit=\${$#}
state='` + states + `'/${unit%.service}.service
case $1 in
  show) cat "$state" 2>/dev/null || echo inactive ;;
  start) echo active >"$state" ;;
  stop) echo inactive >"$state" ;;
  *) echo "unknown verb $1" >&2; exit 1 ;;
esac
`
	if err := os.WriteFile(filepath.Join(bin, "systemctl"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("TEST_SERVICES", states)
	return states
}

func put(t *testing.T, root, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(root+path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(root+path, []byte(text), 0o644); err != nil {
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

// snapshot has every file of a tree and the state of each service, byte for byte.
func snapshot(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range []string{root, os.Getenv("TEST_SERVICES")} {
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
