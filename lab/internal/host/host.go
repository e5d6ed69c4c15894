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
