package host

import "testing"

func TestSameLooksAtTheMachineAndNotAtItsName(t *testing.T) {
	base := Profile{
		SchemaVersion: 2, ID: "a", Name: "A", CPU: "Made-up 3000", Arch: "amd64", Cores: 4, MemoryBytes: 8 << 30, OS: "linux",
		Kernel: "6.1.0", Virtual: "yes", NIC: "eth0", NICQueues: 2, LineRateBps: 1e9, Note: "a note",
		Mark: "0123456789abcdef", CPUVersion: "a/1", Sockets: 2, ThreadsPerCore: 2, Caches: "L1d 1K x1",
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
		{"memory", func(p *Profile) { p.MemoryBytes = 16 << 30 }, true},
		{"system", func(p *Profile) { p.OS = "other" }, false},
		{"kernel", func(p *Profile) { p.Kernel = "6.2.0" }, true},
		{"id of its own", func(p *Profile) { p.Mark = "fedcba9876543210" }, false},
		{"version of the CPU", func(p *Profile) { p.CPUVersion = "a/2" }, false},
		{"number of sockets", func(p *Profile) { p.Sockets = 1 }, false},
		{"number of threads", func(p *Profile) { p.ThreadsPerCore = 1 }, false},
		{"cache", func(p *Profile) { p.Caches = "L1d 2K x1" }, false},
		// An early profile has none of these.
		{"more that is known", func(p *Profile) {
			p.Mark, p.CPUVersion, p.Sockets, p.ThreadsPerCore, p.Caches = "", "", 0, 0, ""
		}, true},
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
