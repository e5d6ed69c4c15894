package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// madeUpMachine is the root directory of a machine of two CPUs; an empty id leaves it
// without a machine-id.
func madeUpMachine(t *testing.T, id string) string {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{
		"proc/cpuinfo":                   "processor: 0\nmodel name: Made up\n\nprocessor: 1\nmodel name: Made up\n",
		"proc/sys/kernel/random/boot_id": "11111111-2222-3333-4444-555555555555\n",
	}
	if id != "" {
		files["etc/machine-id"] = id + "\n"
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// A call of the lab on a machine, in the workshop's clone as it is.
func (w *workshop) profile(root, name string) (h *host.Profile, said string, err error) {
	w.t.Helper()
	j, faults, err := archive.Open(w.root)
	if err != nil || len(faults) > 0 {
		w.t.Fatal(err, faults)
	}
	h, err = profile(j, root, name, func(format string, args ...any) { said += fmt.Sprintf(format, args...) + "\n" })
	return h, said, err
}

// has writes a profile, as a run does that was made on the machine.
func (w *workshop) has(h host.Profile) {
	w.t.Helper()
	data, err := results.Encode(h)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(w.root.Host(h.ID), string(data))
}

func TestAMachineHasOneNameInEveryClone(t *testing.T) {
	one, two := madeUpMachine(t, strings.Repeat("1", 32)), madeUpMachine(t, strings.Repeat("2", 32))
	w := newWorkshop(t)
	a, said, err := w.profile(one, "")
	if err != nil || said != "" || a.Mark == "" {
		t.Fatalf("%+v, %v, said %q", a, err, said)
	}
	if again, _, err := newWorkshop(t).profile(one, ""); err != nil || *again != *a {
		t.Errorf("in another clone: %+v, %v", again, err)
	}
	if _, err := os.Stat(w.root.LocalName()); err == nil {
		t.Error("a name was written down that is not drawn")
	}
	w.has(*a)
	b, said, err := w.profile(two, "")
	if err != nil || b.ID == a.ID || said != "" {
		t.Errorf("a machine of the same model: %+v, %v, said %q", b, err, said)
	}
	if _, _, err := w.profile(two, a.ID); err == nil || !strings.Contains(err.Error(), "describes another machine") {
		t.Errorf("under the name of the first: %v", err)
	}
}

func TestAMachineWithoutAnIDKeepsItsDrawnName(t *testing.T) {
	root := madeUpMachine(t, "")
	w := newWorkshop(t)
	a, said, err := w.profile(root, "")
	if err != nil || a.Mark != "" || !strings.Contains(said,
		"it has no id in /etc/machine-id: its name was drawn and is kept in .lab-host") {
		t.Fatalf("%+v, %v, said %q", a, err, said)
	}
	// The machine starts again.
	if err := os.WriteFile(filepath.Join(root, "proc/sys/kernel/random/boot_id"), []byte("9999"), 0o644); err != nil {
		t.Fatal(err)
	}
	if again, said, err := w.profile(root, ""); err != nil || again.ID != a.ID || said != "" {
		t.Errorf("after the next start: %+v, %v, said %q", again, err, said)
	}
	w.has(*a)
	other := newWorkshop(t)
	other.has(*a)
	b, said, err := other.profile(root, "")
	if err != nil || b.ID == a.ID || !strings.Contains(said, "If it is "+a.ID+
		", which has the same parts, stop and add --host") {
		t.Errorf("in another clone, after the next start: %+v, %v, said %q", b, err, said)
	}
	if b, said, err = other.profile(root, a.ID); err != nil || b.ID != a.ID || said != "" {
		t.Errorf("with the name given: %+v, %v, said %q", b, err, said)
	}
	other.write(other.root.LocalName(), "No Name\n")
	if _, _, err := other.profile(root, ""); err == nil ||
		!strings.HasPrefix(err.Error(), `.lab-host: "No Name" cannot name a host`) {
		t.Errorf("a file with no name: %v", err)
	}
}

func TestAPersonsNameGoesBeforeTheLabs(t *testing.T) {
	root := madeUpMachine(t, strings.Repeat("1", 32))
	w := newWorkshop(t)
	w.write(w.root.LocalName(), "# mine\nmy-rack\n")
	if h, _, err := w.profile(root, ""); err != nil || h.ID != "my-rack" || h.Mark != "" {
		t.Errorf("of the file: %+v, %v", h, err)
	}
	if h, _, err := w.profile(root, "my-other"); err != nil || h.ID != "my-other" {
		t.Errorf("of the call: %+v, %v", h, err)
	}
	// It may be the name of a kind of machines, of which each job gets another.
	kind, _, err := w.profile(root, "my-kind")
	if err != nil {
		t.Fatal(err)
	}
	w.has(*kind)
	if h, said, err := w.profile(madeUpMachine(t, strings.Repeat("2", 32)), "my-kind"); err != nil || *h != *kind ||
		said != "" {
		t.Errorf("another of the kind: %+v, %v, said %q", h, err, said)
	}
	for _, name := range []string{"My rack", "../rack"} {
		if _, _, err := w.profile(root, name); err == nil {
			t.Errorf("%q names a host", name)
		}
	}
}

// A profile of version 1 has the kernel and the memory of its day, and no id.
func TestAMachineOfAnEarlierProfileIsKnownByName(t *testing.T) {
	root := madeUpMachine(t, strings.Repeat("1", 32))
	w := newWorkshop(t)
	now, _, err := w.profile(root, "")
	if err != nil {
		t.Fatal(err)
	}
	before := host.Profile{SchemaVersion: host.Version, ID: "made-up-2c-00000000", Name: "N", CPU: now.CPU, Arch: now.Arch, Cores: 2,
		OS: now.OS, MemoryBytes: 1 << 30, Kernel: "5.0"}
	w.has(before)
	if _, said, err := w.profile(root, ""); err != nil || !strings.Contains(said, before.ID) {
		t.Errorf("%v, said %q", err, said)
	}
	if h, said, err := w.profile(root, before.ID); err != nil || *h != before || said != "" {
		t.Errorf("%+v, %v, said %q", h, err, said)
	}
}
