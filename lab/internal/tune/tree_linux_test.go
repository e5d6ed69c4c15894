package tune

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// A model describes a made-up tree. The tests have no access to the entries' machines, so
// the trees are made up as the kernel's documentation says
// (ABI/testing/sysfs-class-net-queues, sysfs-bus-pci, filesystems/proc), with the numbers
// that the entries print. They show each write and its place; the tests in real
// namespaces show that a kernel accepts it.
type model struct {
	cores, queues int
	dev           string
	firstIRQ      int // of the queues; the management vector is the one before
}

var (
	c8i32xlarge = model{cores: 128, queues: 16, dev: "enp95s0", firstIRQ: 143}
	c6i2xlarge  = model{cores: 8, queues: 8, dev: "ens5", firstIRQ: 28}
)

// pci is the device that the interface of each model belongs to.
const pci = "/sys/devices/pci0000:00/0000:00:05.0"

// tree makes a tree and makes this process use it in place of /proc and /sys. isBack checks that it is as it was.
func (d model) tree(t *testing.T) (root string, isBack func(when string)) {
	t.Helper()
	root = t.TempDir()
	all := fmt.Sprintf("0-%d\n", d.cores-1)
	put(t, root+cpuDir+"possible", all)
	put(t, root+cpuDir+"online", all)
	dev := root + pci + "/net/" + d.dev
	put(t, dev+"/ifindex", "2\n")
	for q := range d.queues {
		put(t, fmt.Sprintf("%s/queues/rx-%d/rps_cpus", dev, q), "0\n")
		put(t, fmt.Sprintf("%s/queues/rx-%d/rps_flow_cnt", dev, q), "0\n")
		put(t, fmt.Sprintf("%s/queues/tx-%d/xps_cpus", dev, q), "0\n")
	}
	link(t, root+netDir+d.dev, "../../devices/pci0000:00/0000:00:05.0/net/"+d.dev)
	link(t, dev+"/device", "../../../0000:00:05.0")
	interrupt(t, root, d.firstIRQ-1, "ena-mgmnt@pci:0000:00:05.0", all)
	for q := range d.queues {
		interrupt(t, root, d.firstIRQ+q, fmt.Sprintf("%s-Tx-Rx-%d", d.dev, q), all)
	}
	put(t, root+tableFile, "0\n")
	put(t, root+"/proc/4711/comm", "bash\n")
	t.Setenv(treeVariable, root)
	t.Setenv("LINE_RATE_STATE", filepath.Join(t.TempDir(), "state"))
	for _, name := range []string{"irqbalance", "crond"} {
		put(t, root+"/services/"+name+".service", "active\n")
	}
	bin := t.TempDir()
	put(t, bin+"/systemctl", systemctlScript)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	before := snapshot()
	return root, func(when string) {
		t.Helper()
		if !maps.Equal(before, snapshot()) {
			t.Errorf("%s: not everything is as before", when)
		}
	}
}

func interrupt(t *testing.T, root string, irq int, action, on string) {
	t.Helper()
	put(t, fmt.Sprintf("%s%s/msi_irqs/%d", root, pci, irq), "msix\n")
	put(t, root+affinity(fmt.Sprint(irq)), on)
	put(t, fmt.Sprintf("%s/proc/irq/%d/%s/of-a-directory", root, irq, action), "")
}

// systemctlScript knows the services that have a file in the tree.
const systemctlScript = `#!/bin/sh
eval unit=\${$#}
state=$` + treeVariable + `/services/$unit
case $1 in
  show) cat "$state" 2>/dev/null || echo inactive ;;
  start) echo active >"$state" ;;
  stop) echo inactive >"$state" ;;
  *) echo "unknown verb $1" >&2; exit 1 ;;
esac
`

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
		t.Fatal(err)
	}
}

// link puts a link where there may be a file.
func link(t *testing.T, path, to string) {
	t.Helper()
	_ = os.Remove(path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(to, path)); err != nil {
		t.Fatal(err)
	}
}

// snapshot has every file of the tree, byte for byte.
func snapshot() map[string]string {
	all := map[string]string{}
	_ = filepath.WalkDir(os.Getenv(treeVariable), func(path string, _ fs.DirEntry, _ error) error {
		text, _ := os.ReadFile(path) // a directory has none
		all[path] = string(text)
		return nil
	})
	return all
}
