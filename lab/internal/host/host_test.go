package host

import (
	"maps"
	"testing"
)

func TestSameLooksAtTheMachineAndNotAtItsName(t *testing.T) {
	base := Profile{
		SchemaVersion: 2, ID: "a", Name: "A", CPU: "Made-up 3000", Arch: "amd64", Cores: 4, MemoryBytes: 8 << 30, OS: "linux",
		Kernel: "6.1.0", Virtual: "yes", NIC: "eth0", NICQueues: 2, LineRateBps: 1e9, Note: "a note",
		CPUVersion: "a/1", Sockets: 2, ThreadsPerCore: 2, Caches: "L1d 1K x1",
	}
	for name, c := range map[string]struct {
		change func(*Profile)
		want   bool
	}{
		"name":    {func(p *Profile) { p.ID, p.Name, p.Note = "b", "B", "" }, true},
		"memory":  {func(p *Profile) { p.MemoryBytes, p.Kernel = 16<<30, "6.2.0" }, true},
		"CPU":     {func(p *Profile) { p.CPU = "Made-up 4000" }, false},
		"arch":    {func(p *Profile) { p.Arch = "arm64" }, false},
		"cores":   {func(p *Profile) { p.Cores = 8 }, false},
		"version": {func(p *Profile) { p.CPUVersion = "a/2" }, false},
		"sockets": {func(p *Profile) { p.Sockets = 1 }, false},
		"threads": {func(p *Profile) { p.ThreadsPerCore = 1 }, false},
		"caches":  {func(p *Profile) { p.Caches = "L1d 2K x1" }, false},
		"virtual": {func(p *Profile) { p.Virtual = "" }, false},
		"card":    {func(p *Profile) { p.NICQueues = 4 }, false},
		"an early profile, which has none of these": {func(p *Profile) {
			p.CPUVersion, p.Sockets, p.ThreadsPerCore, p.Caches = "", 0, 0, ""
		}, true},
	} {
		q := base
		c.change(&q)
		if base.Same(q) != c.want || q.Same(base) != c.want {
			t.Errorf("with another %s: the same is %v and %v, want %v", name, base.Same(q), q.Same(base), c.want)
		}
	}
}

func TestTwoMachinesOfOneModelHaveTwoNames(t *testing.T) {
	got := Names(map[string]*Profile{"a-1": {ID: "a-1", Name: "A CPU"}, "a-2": {ID: "a-2", Name: "A CPU"},
		"b": {ID: "b", Name: "B CPU"}})
	if want := map[string]string{"a-1": "A CPU (a-1)", "a-2": "A CPU (a-2)", "b": "B CPU"}; !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
