package host

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// texts holds invented texts below a root, by name.
type texts map[string]string

// rack is a machine of two sockets with four CPUs, two threads a core.
func rack() texts {
	t := texts{
		"etc/machine-id": "0123456789abcdef0123456789abcdef",
		"proc/self/mountinfo": "22 1 8:1 / / rw,relatime - ext4 /dev/sda1 " +
			"rw\n23 22 0:20 / /run rw - tmpfs tmpfs rw",
		"proc/meminfo": "MemTotal:       16314900 kB\nMemFree:        " +
			"1000 kB",
		"proc/sys/kernel/osrelease":                                       "6.1.0-1-amd64",
		"proc/sys/kernel/hostname":                                        "acme-build-7",
		"proc/sys/kernel/random/boot_id":                                  "11111111-2222-3333-4444-555555555555",
		"sys/class/net/eth0/address":                                      "02:00:00:aa:bb:cc",
		"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":            "powersave",
		"sys/devices/system/cpu/vulnerabilities/spectre_v2":               "Mitigation: Retpolines",
		"sys/devices/system/cpu/vulnerabilities/meltdown":                 "Not affected",
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
	}
	var cpuinfo []string
	for i := range 4 {
		cpuinfo = append(cpuinfo, fmt.Sprintf("processor\t: %d\nvendor_id\t: MadeUp\ncpu family\t: 6\nmodel\t\t: 9\nmodel "+
			"name\t: MadeUp(R) 3000 CPU @ 2.00GHz\n"+
			"stepping\t: 4\nmicrocode\t: 0x10\ncpu MHz\t\t: %d\nflags\t\t: fpu hypervisor\n", i, 2000+i))
		cpu := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", i)
		t[cpu+"topology/physical_package_id"] = fmt.Sprint(i / 2)
		t[cpu+"topology/thread_siblings_list"] = fmt.Sprintf("%d-%d", i/2*2, i/2*2+1)
		for index, c := range [][3]string{{"1", "Data", "48K"}, {"1", "Instruction", "32K"}, {"2", "Unified", "1024K"}} {
			at := fmt.Sprintf("%scache/index%d/", cpu, index)
			t[at+"level"], t[at+"type"], t[at+"size"], t[at+"shared_cpu_list"] = c[0], c[1], c[2],
				fmt.Sprintf("%d-%d", i/2*2, i/2*2+1)
		}
	}
	t["proc/cpuinfo"] = strings.Join(cpuinfo, "\n")
	return t
}

// A rig is a made-up machine, whose files lie below its root.
type rig struct {
	t    *testing.T
	root string
}

func build(t *testing.T) rig {
	m := rig{t, t.TempDir()}
	m.put(rack())
	return m
}

// put writes files; an empty text removes one, but for marks, which are empty.
func (m rig) put(files texts) {
	m.t.Helper()
	for name, text := range files {
		if text != "" || name == ".dockerenv" {
			write(m.t, m.root, name, text+"\n")
		} else if err := os.Remove(filepath.Join(m.root, name)); err != nil {
			m.t.Fatal(err)
		}
	}
}

// probe describes the machine while some files are others.
func (m rig) probe(changed texts) *Machine {
	m.t.Helper()
	m.put(changed)
	got, err := Probe(m.root)
	if err != nil {
		m.t.Fatal(err)
	}
	for name := range changed {
		if text, ok := rack()[name]; ok {
			m.put(texts{name: text})
		} else if err := os.Remove(filepath.Join(m.root, name)); err != nil {
			m.t.Fatal(err)
		}
	}
	return got
}

// in replaces a text in one of the rack's texts.
func in(name, old, new string) texts {
	return texts{name: strings.ReplaceAll(rack()[name], old, new)}
}

const overlay = "22 1 0:40 / / rw,relatime - overlay overlay rw"

func TestAProfileHasWhatTheMachineComputesWith(t *testing.T) {
	rig := build(t)
	m := rig.probe(nil)
	want := Profile{
		SchemaVersion: 2, ID: m.ID, Name: "MadeUp 3000, 4 cores", CPU: "MadeUp(R) 3000 CPU @ 2.00GHz",
		CPUVersion: "MadeUp/6/9/4",
		Arch:       runtime.GOARCH, Cores: 4, Sockets: 2, ThreadsPerCore: 2, Caches: "L1d 48K x2, L1i 32K x2, L2 1024K x2",
		OS: runtime.GOOS, Virtual: "yes",
	}
	if m.Profile != want {
		t.Errorf("%+v, want %+v", m.Profile, want)
	}
	if !regexp.MustCompile(`^madeup-3000-4c-[0-9a-f]{8}$`).MatchString(m.ID) || m.Drawn != "" {
		t.Errorf("id %q, drawn, because %q", m.ID, m.Drawn)
	}
}

// One machine stays one: what changes on it is not in its id. And one that computes with other parts is another.
func TestTheIDTellsMachinesApart(t *testing.T) {
	rig := build(t)
	is := rig.probe(nil)
	seen := map[string]string{is.ID: "nothing"}
	for name, c := range map[string]struct {
		changed texts
		another bool
	}{
		"a kernel":              {texts{"proc/sys/kernel/osrelease": "6.12.0-9-amd64"}, false},
		"memory":                {texts{"proc/meminfo": "MemTotal: 65314900 kB"}, false},
		"mitigations":           {texts{"sys/devices/system/cpu/vulnerabilities/spectre_v2": "Vulnerable"}, false},
		"microcode":             {in("proc/cpuinfo", "0x10", "0x11"), false},
		"the clock's frequency": {in("proc/cpuinfo", ": 200", ": 310"), false},
		"a name":                {texts{"proc/sys/kernel/hostname": "acme-build-8"}, false},
		"a start":               {texts{"proc/sys/kernel/random/boot_id": "99999999-2222-3333-4444-555555555555"}, false},
		"machine-id":            {texts{"etc/machine-id": strings.Repeat("f", 32)}, true},
		"model":                 {in("proc/cpuinfo", "3000", "4000"), true},
		"stepping":              {in("proc/cpuinfo", "stepping\t: 4", "stepping\t: 5"), true},
		"cache":                 {texts{"sys/devices/system/cpu/cpu0/cache/index2/size": "2048K"}, true},
		"sockets": {texts{"sys/devices/system/cpu/cpu2/topology/physical_package_id": "0",
			"sys/devices/system/cpu/cpu3/topology/physical_package_id": "0"}, true},
		"cores": {texts{"proc/cpuinfo": strings.SplitAfter(rack()["proc/cpuinfo"], "hypervisor\n\n")[0]}, true},
	} {
		got := rig.probe(c.changed)
		if other, ok := seen[got.ID]; c.another && ok || !c.another && got.Profile != is.Profile {
			t.Errorf("with another value of %s: %+v, before %+v (%s)", name, got.Profile, is.Profile, other)
		}
		seen[got.ID] = name
	}
}

// Each start has a mark of its own, and nothing tells what id it had.
func TestAStartHasItsOwnName(t *testing.T) {
	rig := build(t)
	first := Boot(rig.root)
	rig.put(texts{"proc/sys/kernel/random/boot_id": "99999999-2222-3333-4444-555555555555"})
	if second := Boot(rig.root); first == second || !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(first) ||
		strings.Contains(second, "9999") {
		t.Errorf("two starts are %q and %q", first, second)
	}
	if none := Boot(t.TempDir()); none != "" {
		t.Errorf("without an id of its start a machine has %q", none)
	}
}

// What the system gave the image, and not this machine, tells nothing apart.
func TestAnIDThatIsNotTheMachinesOwnIsNotUsed(t *testing.T) {
	rig := build(t)
	own := rig.probe(nil)
	for name, c := range map[string]struct {
		changed texts
		says    string // why; empty if the id is used
	}{
		"no file":              {texts{"etc/machine-id": ""}, "has no id"},
		"not set yet":          {texts{"etc/machine-id": "uninitialized"}, "has no id"},
		"an image's":           {texts{"proc/self/mountinfo": overlay}, "container's image"},
		"an image's on a disk": {texts{".dockerenv": ""}, "container's image"},
	} {
		m := rig.probe(c.changed)
		if used := m.ID == own.ID; used != (c.says == "") || used != (m.Drawn == "") || !strings.Contains(m.Drawn, c.says) {
			t.Errorf("%s: id %s, because %q; want %q", name, m.ID, m.Drawn, c.says)
		}
		// The lab draws it, and it lasts for all containers until the next start.
		again, later := rig.probe(c.changed), texts{"proc/sys/kernel/random/boot_id": "99999999-2222-3333-4444-555555555555"}
		for name, text := range c.changed {
			later[name] = text
		}
		if started := rig.probe(later); again.ID != m.ID || (started.ID == m.ID) != (c.says == "") {
			t.Errorf("%s: %s, again %s, after the next start %s", name, m.ID, again.ID, started.ID)
		}
	}
}

// A profile has nothing that could find the machine.
func TestNothingRawIsRecorded(t *testing.T) {
	rig := build(t)
	for _, changed := range []texts{nil, {"proc/self/mountinfo": overlay}} {
		m := rig.probe(changed)
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"etc/machine-id", "proc/sys/kernel/hostname", "proc/sys/kernel/random/boot_id",
			"sys/class/net/eth0/address"} {
			raw := rack()[name]
			for _, part := range []string{raw, raw[:8], strings.ReplaceAll(raw, "-", "")[:8]} {
				if strings.Contains(string(text), part) {
					t.Errorf("%s is in %s", name, text)
				}
			}
		}
		for _, changing := range []string{"6.1.0", "powersave", "Retpolines", "memory_bytes", "kernel"} {
			if strings.Contains(string(text), changing) {
				t.Errorf("%q, which changes on a machine, is in %s", changing, text)
			}
		}
	}
}

func TestThisMachineHasOneName(t *testing.T) {
	a, err := Probe("/")
	if runtime.GOOS != "linux" {
		t.Skip(err)
	}
	b, again := Probe("/")
	if err != nil || again != nil || *a != *b || slug(a.ID) != a.ID || a.OS != "linux" || a.Cores < 1 || a.Name == "" {
		t.Errorf("%+v, then %+v, %v", a, b, err)
	}
}

func TestARunRecordsWhatChangesOnAMachine(t *testing.T) {
	root := build(t).root
	set := Kernel(root)
	for name, want := range map[string]string{
		"osrelease": "6.1.0-1-amd64", "scaling_governor": "powersave", "clocksource": "tsc", "microcode": "0x10",
		"vulnerability.spectre_v2": "Mitigation: Retpolines", "vulnerability.meltdown": "", "transparent_hugepage": "",
	} {
		if set[name] != want {
			t.Errorf("%s is %q, want %q", name, set[name], want)
		}
	}
	if n := set["nofile"]; n == "" || n == "0" {
		t.Errorf("open files are recorded as %q", n)
	}
	if got := Memory(root); got != 16<<30 {
		t.Errorf("%d bytes of memory", got)
	}
	if got := Memory(t.TempDir()); got != 0 {
		t.Errorf("%d bytes of memory without /proc", got)
	}
}

func TestModelNamesAreCleaned(t *testing.T) {
	for cpu, want := range map[string][2]string{
		"Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz": {"Intel Core i7-8550U", "intel-core-i7-8550u"},
		"AMD EPYC 7R13 Processor":                  {"AMD EPYC 7R13 Processor", "amd-epyc-7r13-processor"},
		// Names that the kernel does not give, as on arm64, or gives in other letters only.
		"": {"arm64 processor", "arm64-processor"}, "CPU": {"arm64 processor", "arm64-processor"},
		"龙芯": {"arm64 processor", "arm64-processor"},
	} {
		if got := model(cpu, "arm64"); got != want[0] || slug(got) != want[1] {
			t.Errorf("%q became %q and %q, want %q and %q", cpu, got, slug(got), want[0], want[1])
		}
	}
}
