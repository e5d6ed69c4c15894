// Package host describes the machine of a run, and what the run was made with:
// the kernel settings that a throughput figure depends on, the tools, the
// programs, the environment that they start with, and the commit.
//
// A machine is described by what it computes with, never by its name or owner.
// What cannot be found out is absent, never guessed; only the commit is then
// "unknown", because its absence is important in itself. Comparisons use content:
// files with the commit, a program's sources with those in lab/.
//
// The package detects mistakes, not forgery: a forger could as well write the
// results file by hand. A program is described by what it reports about itself
// and by its digest. The shell and the system's tools, such as taskset and tc,
// are not recorded.
package host

// Version is the schema version of profiles.
const Version = 2

// A Profile is one machine, or one kind of rented machine, in data/hosts.
// Unknown fields are absent.
type Profile struct {
	SchemaVersion  int     `json:"schema_version" jsonschema:"enum=2"`
	ID             string  `json:"id" jsonschema:"pattern=^[a-z0-9][a-z0-9-]*$,maxLength=100,description=Name of this file without its ending."`
	Name           string  `json:"name" jsonschema:"minLength=1,description=How pages call it."`
	Mark           string  `json:"mark,omitempty" jsonschema:"pattern=^[0-9a-f]{16}$,description=Keyed hash of an id that no other machine has; absent where nothing tells the machine apart from others with the same parts for good. It is then known until it starts again."`
	CPU            string  `json:"cpu,omitempty" jsonschema:"description=CPU model."`
	CPUVersion     string  `json:"cpu_version,omitempty" jsonschema:"description=Maker\\, family\\, model and stepping as the CPU reports them."`
	Arch           string  `json:"arch,omitempty"`
	Cores          int     `json:"cores,omitempty" jsonschema:"minimum=1,description=Logical CPUs."`
	Sockets        int     `json:"sockets,omitempty" jsonschema:"minimum=1"`
	ThreadsPerCore int     `json:"threads_per_core,omitempty" jsonschema:"minimum=1"`
	Caches         string  `json:"caches,omitempty" jsonschema:"description=Size and number of each kind."`
	MemoryBytes    int64   `json:"memory_bytes,omitempty" jsonschema:"minimum=0,description=As a text gives it; a measured run records its own."`
	OS             string  `json:"os,omitempty"`
	Kernel         string  `json:"kernel,omitempty" jsonschema:"description=As a text gives it; a measured run records its own."`
	Virtual        string  `json:"virtual,omitempty" jsonschema:"description=Hypervisor as the CPU reports it."`
	NIC            string  `json:"nic,omitempty" jsonschema:"description=Interface the load went over."`
	NICQueues      int     `json:"nic_queues,omitempty" jsonschema:"minimum=0"`
	LineRateBps    float64 `json:"line_rate_bps,omitempty" jsonschema:"minimum=0,description=Bits a second of that interface."`
	Note           string  `json:"note,omitempty"`
}

// Alike tells whether two profiles may describe the same machine, whatever they
// are called. Memory and kernel may differ, since they change on one machine.
// What only one of them records is not compared, except whether it is virtual.
func (p Profile) Alike(q Profile) bool {
	text := func(a, b string) bool { return a == "" || b == "" || a == b }
	number := func(a, b int) bool { return a == 0 || b == 0 || a == b }
	return p.CPU == q.CPU && p.Arch == q.Arch && p.Cores == q.Cores && p.OS == q.OS && p.Virtual == q.Virtual &&
		p.NIC == q.NIC && p.NICQueues == q.NICQueues && p.LineRateBps == q.LineRateBps &&
		text(p.CPUVersion, q.CPUVersion) && number(p.Sockets, q.Sockets) && number(p.ThreadsPerCore, q.ThreadsPerCore) &&
		text(p.Caches, q.Caches)
}

// Same tells whether nothing says that two profiles of one name are of different
// machines.
func (p Profile) Same(q Profile) bool {
	return p.Alike(q) && (p.Mark == "" || q.Mark == "" || p.Mark == q.Mark)
}
