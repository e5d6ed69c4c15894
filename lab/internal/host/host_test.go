package host

import "testing"

func TestSameLooksAtTheMachineAndNotAtItsName(t *testing.T) {
	base := Profile{
		SchemaVersion: 1, ID: "a", Name: "A", CPU: "Made-up 3000", Arch: "amd64", Cores: 4, MemoryBytes: 8 << 30, OS: "linux",
		Kernel: "6.1.0", Virtual: "yes", NIC: "eth0", NICQueues: 2, LineRateBps: 1e9, Note: "a note",
	}
	for _, c := range []struct {
		name   string
		change func(*Profile)
		want   bool
	}{
		{"nothing", func(*Profile) {}, true},
		{"id", func(p *Profile) { p.ID = "b" }, true},
		{"name", func(p *Profile) { p.Name = "B" }, true},
		{"note", func(p *Profile) { p.Note = "" }, true},
		{"CPU", func(p *Profile) { p.CPU = "Made-up 4000" }, false},
		{"architecture", func(p *Profile) { p.Arch = "arm64" }, false},
		{"cores", func(p *Profile) { p.Cores = 8 }, false},
		{"memory", func(p *Profile) { p.MemoryBytes = 16 << 30 }, false},
		{"system", func(p *Profile) { p.OS = "other" }, false},
		{"kernel", func(p *Profile) { p.Kernel = "6.2.0" }, false},
		{"hypervisor", func(p *Profile) { p.Virtual = "" }, false},
		{"interface", func(p *Profile) { p.NIC = "eth1" }, false},
		{"queues", func(p *Profile) { p.NICQueues = 4 }, false},
		{"line rate", func(p *Profile) { p.LineRateBps = 1e10 }, false},
	} {
		q := base
		c.change(&q)
		if base.Same(q) != c.want || q.Same(base) != c.want {
			t.Errorf("with another %s: the same is %v and %v, want %v", c.name, base.Same(q), q.Same(base), c.want)
		}
	}
	if base.ID != "a" || base.Note != "a note" {
		t.Error("comparing changed the profile")
	}
}
