// Package host describes what a run was made on and with: the machine, the kernel
// settings that a throughput figure depends on, the tools, the programs and the
// environment that they start with, and the commit.
//
// Its stance: a machine is described as a reader needs to know it, by what it
// computes with, never by what it is called or who owns it. What cannot be found out
// is absent, never guessed; only the commit is said to be "unknown", because its
// absence is itself worth knowing. And what can be compared is compared by content:
// files with the commit, a program's sources with those that lie in lab/.
//
// Its limits: it tells mistakes, and not a forger, who could as well write the
// results file by hand. What is said of a program is what it says itself; beyond
// that it has its digest. The shell and the system's own tools, such as taskset
// and tc, are not named.
package host

// A Profile is one machine, or one kind of rented machine, in data/hosts.
// Unknown fields are absent.
type Profile struct {
	SchemaVersion int     `json:"schema_version" jsonschema:"enum=1"`
	ID            string  `json:"id" jsonschema:"pattern=^[a-z0-9][a-z0-9-]*$,maxLength=100,description=Name of this file without its ending."`
	Name          string  `json:"name" jsonschema:"minLength=1,description=How pages call it."`
	CPU           string  `json:"cpu,omitempty" jsonschema:"description=CPU model."`
	Arch          string  `json:"arch,omitempty"`
	Cores         int     `json:"cores,omitempty" jsonschema:"minimum=1,description=Logical CPUs."`
	MemoryBytes   int64   `json:"memory_bytes,omitempty" jsonschema:"minimum=0"`
	OS            string  `json:"os,omitempty"`
	Kernel        string  `json:"kernel,omitempty"`
	Virtual       string  `json:"virtual,omitempty" jsonschema:"description=Hypervisor as the CPU reports it."`
	NIC           string  `json:"nic,omitempty" jsonschema:"description=Interface the load went over."`
	NICQueues     int     `json:"nic_queues,omitempty" jsonschema:"minimum=0"`
	LineRateBps   float64 `json:"line_rate_bps,omitempty" jsonschema:"minimum=0,description=Bits a second of that interface."`
	Note          string  `json:"note,omitempty"`
}

// Same tells whether two profiles describe the same machine, whatever they are
// called.
func (p Profile) Same(q Profile) bool {
	p.ID, p.Name, p.Note = q.ID, q.Name, q.Note
	return p == q
}
