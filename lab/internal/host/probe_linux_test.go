package host

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestProbeGivesTheSameMachineTheSameID(t *testing.T) {
	a, err := Probe()
	if err != nil {
		t.Fatal(err)
	}
	b, err := Probe()
	if err != nil {
		t.Fatal(err)
	}
	if *a != *b {
		t.Errorf("%+v, then %+v", a, b)
	}
	// The published schema's pattern.
	if !regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`).MatchString(a.ID) {
		t.Errorf("id %q", a.ID)
	}
	if a.SchemaVersion != 1 || a.OS != "linux" || a.Arch == "" || a.Cores < 1 || a.Name == "" || a.Kernel == "" {
		t.Errorf("%+v lacks what every Linux machine has", a)
	}
	if a.MemoryBytes <= 0 || a.MemoryBytes%(1<<30) != 0 {
		t.Errorf("memory of %d bytes; it differs a little from boot to boot unless it is whole gibibytes", a.MemoryBytes)
	}
}

func TestProbeDoesNotSayWhoseMachineItIs(t *testing.T) {
	name, err := os.Hostname()
	if err != nil || len(name) < 4 {
		t.Skip("this machine's name is too short to tell from a part of a word")
	}
	p, err := Probe()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{p.ID, p.Name, p.Note, p.NIC} {
		if strings.Contains(strings.ToLower(text), strings.ToLower(name)) {
			t.Errorf("%q holds the machine's name", text)
		}
	}
}

func TestTheIDFollowsTheMachine(t *testing.T) {
	p := Profile{SchemaVersion: 1, ID: "x", Name: "X", CPU: "Made-up", Cores: 4}
	q := p
	q.ID, q.Name = "y", "Y"
	if p.digest() != q.digest() {
		t.Error("the digest depends on what the machine is called")
	}
	q.Cores = 8
	if p.digest() == q.digest() {
		t.Error("a changed machine keeps its digest")
	}
}

func TestModelNamesAreCleaned(t *testing.T) {
	for cpu, want := range map[string][2]string{
		"Intel(R) Xeon(R) Platinum 8488C":          {"Intel Xeon Platinum 8488C", "intel-xeon-platinum-8488c"},
		"Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz": {"Intel Core i7-8550U", "intel-core-i7-8550u"},
		"AMD EPYC 7R13 Processor":                  {"AMD EPYC 7R13 Processor", "amd-epyc-7r13-processor"},
		// Names that the kernel does not give, as on arm64, or gives in other letters
		// only.
		"":    {"arm64 processor", "arm64-processor"},
		"CPU": {"arm64 processor", "arm64-processor"},
		"龙芯":  {"arm64 processor", "arm64-processor"},
		"Intel(r) Xeon(r) CPU E5-2676 v3 @ 2.40GHz": {"Intel Xeon E5-2676 v3", "intel-xeon-e5-2676-v3"},
	} {
		if got := model(cpu, "arm64"); got != want[0] || slug(got) != want[1] {
			t.Errorf("%q became %q and %q, want %q and %q", cpu, got, slug(got), want[0], want[1])
		}
	}
}
