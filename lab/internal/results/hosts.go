package results

// Hosts names the machines by their profiles in data/hosts. The client's was always the
// server's.
type Hosts struct {
	Server string `json:"server"`
	Client string `json:"client"`
}
