package session

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// madeUpMachine is the root directory of a machine of two CPUs; an empty id leaves it
// without a machine-id.
func madeUpMachine(t *testing.T, id string) string {
	t.Helper()
	root := t.TempDir()
	archivetest.Write(t, filepath.Join(root, "proc/cpuinfo"),
		"processor: 0\nmodel name: Made up\n\nprocessor: 1\nmodel name: Made up\n")
	archivetest.Write(t, filepath.Join(root, "proc/sys/kernel/random/boot_id"), "11111111-2222-3333-4444-555555555555\n")
	if id != "" {
		archivetest.Write(t, filepath.Join(root, "etc/machine-id"), strings.Repeat(id, 32)+"\n")
	}
	return root
}

// profile is a call of the lab on a machine, in the workshop's clone as it is: what it takes the machine for, and
// what it says of that, or why it refuses.
func (w *workshop) profile(root, name string) (h host.Profile, said string) {
	w.t.Helper()
	j, faults, err := archive.Open(w.root)
	if err != nil || len(faults) > 0 {
		w.t.Fatal(err, faults)
	}
	is, err := Profile(j, root, name, func(format string, args ...any) { said += fmt.Sprintf(format, args...) + "\n" })
	if err != nil {
		return h, err.Error()
	}
	return *is, said
}

// knows writes a profile, as a run does that was made on the machine.
func (w *workshop) knows(h host.Profile) {
	w.t.Helper()
	data, err := results.Encode(h)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(w.root.Host(h.ID), string(data))
}

func TestAMachineHasOneNameInEveryClone(t *testing.T) {
	one, two := madeUpMachine(t, "1"), madeUpMachine(t, "2")
	w := newWorkshop(t)
	a, said := w.profile(one, "")
	if again, told := newWorkshop(t).profile(one, ""); said+told != "" || again != a {
		t.Errorf("%+v and %+v, said %q%q", a, again, said, told)
	}
	w.knows(a)
	if b, said := w.profile(two, ""); b.ID == a.ID || said != "" {
		t.Errorf("a machine of the same model: %+v, said %q", b, said)
	}
	archivetest.Edit(t, filepath.Join(two, "proc/cpuinfo"), "Made up", "Another")
	if _, said := w.profile(two, a.ID); !strings.Contains(said, "describes another machine") {
		t.Errorf("of another model, under the name of the first: %s", said)
	}
}

func TestAMachineWithoutAnIDHasADrawnNameUntilItStartsAgain(t *testing.T) {
	root := madeUpMachine(t, "")
	w := newWorkshop(t)
	a, said := w.profile(root, "")
	if !strings.Contains(said, "it has no id in /etc/machine-id: "+a.ID+" is its name until it starts again") {
		t.Fatalf("%+v, said %q", a, said)
	}
	w.knows(a)
	if again, said := w.profile(root, ""); again.ID != a.ID || said != "" {
		t.Errorf("of the same start: %+v, said %q", again, said)
	}
	archivetest.Write(t, filepath.Join(root, "proc/sys/kernel/random/boot_id"), "9999")
	b, said := w.profile(root, "")
	if b.ID == a.ID || !strings.Contains(said, "stop and add --host") {
		t.Errorf("after the next start: %+v, said %q", b, said)
	}
	if b, said = w.profile(root, a.ID); b.ID != a.ID || said != "" {
		t.Errorf("with the name given: %+v, said %q", b, said)
	}
}

func TestAPersonsNameGoesBeforeTheLabs(t *testing.T) {
	root := madeUpMachine(t, "1")
	w := newWorkshop(t)
	// It may be the name of a kind of machines, of which each job gets another.
	kind, said := w.profile(root, "my-kind")
	if kind.ID != "my-kind" {
		t.Fatal(said)
	}
	w.knows(kind)
	if h, said := w.profile(madeUpMachine(t, "2"), "my-kind"); h != kind || said != "" {
		t.Errorf("another of the kind: %+v, said %q", h, said)
	}
	if h, _ := w.profile(root, "../rack"); h.ID != "" {
		t.Error("a path names a host")
	}
}
