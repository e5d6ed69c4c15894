// Package host describes the machine of a run, and what the run was made with:
// the kernel settings that a throughput figure depends on, the tools, the
// programs, the environment that they start with, and the commit.
//
// A machine is described by what it computes with, never by its name or owner.
// What cannot be found out is absent, never guessed; only the commit is then
// "unknown", because its absence is important in itself.
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
	SchemaVersion  int     `json:"schema_version"`
	ID             string  `json:"id"`
	Name           string  `json:"name"`
	Mark           string  `json:"mark,omitempty"`
	CPU            string  `json:"cpu,omitempty"`
	CPUVersion     string  `json:"cpu_version,omitempty"`
	Arch           string  `json:"arch,omitempty"`
	Cores          int     `json:"cores,omitempty"`
	Sockets        int     `json:"sockets,omitempty"`
	ThreadsPerCore int     `json:"threads_per_core,omitempty"`
	Caches         string  `json:"caches,omitempty"`
	MemoryBytes    int64   `json:"memory_bytes,omitempty"`
	OS             string  `json:"os,omitempty"`
	Kernel         string  `json:"kernel,omitempty"`
	Virtual        string  `json:"virtual,omitempty"`
	NIC            string  `json:"nic,omitempty"`
	NICQueues      int     `json:"nic_queues,omitempty"`
	LineRateBps    float64 `json:"line_rate_bps,omitempty"`
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
