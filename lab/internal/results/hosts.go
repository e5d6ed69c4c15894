package results

// Hosts names the machines by their profiles in data/hosts. The client's was always the
// server's.
type Hosts struct {
	Server string `json:"server" jsonschema:"pattern=^[a-z0-9][a-z0-9-]*$,maxLength=100"`
	Client string `json:"client" jsonschema:"pattern=^[a-z0-9][a-z0-9-]*$,maxLength=100"`
}
