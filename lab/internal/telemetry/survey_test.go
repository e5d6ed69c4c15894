package telemetry

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/prometheus/procfs"
)

func TestInterruptsByQueue(t *testing.T) {
	p := pair()
	p[0].survey.irqs = map[string]float64{"eth0-0": 100, "eth0-1": 0, "gone": 1}
	p[1].survey.irqs = map[string]float64{"eth0-0": 2100, "eth0-1": 10, "new": 9}
	if got := whole(sampler(p), 1000).Interrupts; len(got) != 2 || got["eth0-0"] != 1000 || got["eth0-1"] != 5 {
		t.Errorf("%v", got)
	}
}

// theOthers has the processes outside the load: pid 50 is a shell with a child
// 51, and 60 runs on the client's core.
func theOthers(shell, child, third float64, childThere bool) map[int]other {
	os := map[int]other{
		50: {"sh", 1, seconds(shell), 0},
		60: {"backup", 1, seconds(third), 2},
	}
	if childThere {
		os[51] = other{"cc", 50, seconds(child), 1}
	}
	return os
}

// surveyed is a survey with other processes and nothing else.
func surveyed(s float64, os map[int]other) *survey {
	return &survey{at: at(s), others: os}
}

func TestLoadOfOthersIsTheirsByCore(t *testing.T) {
	p := pair()
	p[0].survey = surveyed(10, theOthers(1, 5, 100, true))
	p[1].survey = surveyed(12, theOthers(1, 6, 100.5, true))
	middle := sample{at: at(11), survey: surveyed(11, theOthers(1, 5.5, 100, true))}
	w := whole(sampler([]sample{p[0], middle, p[1]}), 1000)
	want := []Load{{"cc", 1, 0.5}, {"backup", 2, 0.25}}
	if !slices.Equal(w.Others, want) {
		t.Errorf("%v, want %v", w.Others, want)
	}
	// The server's cores are 0 and 1, the client's is 2.
	for name, v := range map[string]float64{"server_foreign_load": 0.5, "client_foreign_load": 0.25} {
		if w.Metrics[name] != v {
			t.Errorf("%s is %v, want %v", name, w.Metrics[name], v)
		}
	}
}

func TestWhatEndedChildrenHadUsedBeforeIsNotCounted(t *testing.T) {
	before := map[int]other{50: {"sh", 1, seconds(1), 0}, 51: {"make", 50, seconds(5), 0}, 52: {"cc", 51, seconds(3), 0}}
	for _, c := range []struct {
		name  string
		after map[int]other
		want  []Load
	}{
		{"the child's eight seconds, five of them its own before, are its parent's",
			map[int]other{50: {"sh", 1, seconds(1), 0}, 51: {"make", 50, seconds(13), 0}}, []Load{{"make", 0, 2.5}}},
		{"the child and its parent have ended",
			map[int]other{50: {"sh", 1, seconds(9.5), 0}}, []Load{{"sh", 0, 0.25}}},
		{"all have, and nobody is left to inherit", map[int]other{}, nil},
	} {
		p := pair()
		p[0].survey, p[1].survey = surveyed(10, before), surveyed(12, c.after)
		if w := whole(sampler(p), 1000); !slices.Equal(w.Others, c.want) {
			t.Errorf("%s: %v, want %v", c.name, w.Others, c.want)
		}
	}
}

func TestOneSurveyTellsNoLoad(t *testing.T) {
	p := pair()
	p[0].survey = nil
	w := whole(sampler(p), 1000)
	for _, name := range []string{"server_foreign_load", "client_foreign_load", "swap_pages", "tcp_retransmits"} {
		if v, ok := w.Metrics[name]; ok {
			t.Errorf("%s is %v", name, v)
		}
	}
}

// A made-up virtio interface beside another one whose name begins with its own, and
// an interface without a list of its device's interrupts.
func TestInterruptsAreFoundByTheDevice(t *testing.T) {
	dir := t.TempDir()
	put := func(path, text string) {
		t.Helper()
		name := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("proc/interrupts", `           CPU0       CPU1
 37:          0          0 PCI-MSIX-0000:00:05.0   0-edge      virtio2-config
 38:          3     138430 PCI-MSIX-0000:00:05.0   1-edge      virtio2-input.0
 39:     127031          0 PCI-MSIX-0000:00:05.0   2-edge      virtio2-output.0
 50:          7          0 PCI-MSIX-0000:00:06.0   1-edge      eth10-Tx-Rx-0
 51:          9          1 PCI-MSIX-0000:00:07.0   1-edge      ens5-Tx-Rx-0
NMI:          0          0   Non-maskable interrupts
`)
	put("proc/1/stat", "")
	put("sys/devices/pci/virtio2/status", "")
	for _, n := range []string{"37", "38", "39"} {
		put("sys/devices/pci/msi_irqs/"+n, "msix\n")
	}
	put("sys/devices/card/vendor", "")
	for dev, to := range map[string]string{"eth1": "../../../devices/pci/virtio2", "ens5": "../../../devices/card"} {
		put("sys/class/net/"+dev+"/ifindex", "2\n")
		if err := os.Symlink(to, filepath.Join(dir, "sys/class/net", dev, "device")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("1", filepath.Join(dir, "proc/self")); err != nil {
		t.Fatal(err)
	}
	fs, err := procfs.NewFS(filepath.Join(dir, "proc"))
	if err != nil {
		t.Fatal(err)
	}
	s := &Sampler{fs: fs, sys: filepath.Join(dir, "sys")}
	for dev, want := range map[string]map[string]float64{
		"eth1": {"virtio2-config": 0, "virtio2-input.0": 138433, "virtio2-output.0": 127031},
		"ens5": {"ens5-Tx-Rx-0": 10},
	} {
		if got := s.interrupts(dev); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", dev, got, want)
		}
	}
}
