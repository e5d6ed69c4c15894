// Package host describes a machine by what it computes with, never by its name
// or owner.
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
