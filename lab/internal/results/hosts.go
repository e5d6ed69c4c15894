package results

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// Hosts names the machines by their profiles in data/hosts. A record is of one
// experiment on the same hosts, joined alike: a fleet's blocks never count together
// with those of its server alone, or of another fleet of that server's.
type Hosts struct {
	Server string `json:"server" jsonschema:"pattern=^[a-z0-9][a-z0-9-]*$,maxLength=100"`
	Client string `json:"client" jsonschema:"pattern=^[a-z0-9][a-z0-9-]*$,maxLength=100"`
	// Clients are those of a fleet in their order, of which Client is the first; nil
	// where the lab reached no client on another host.
	Clients []string `json:"clients,omitempty" jsonschema:"minItems=1,maxItems=1000,description=The hosts of all clients of a fleet; one that has several clients stands several times."`
}

// Same reports whether two runs had the same hosts, joined alike.
func (h Hosts) Same(o Hosts) bool {
	return h.Server == o.Server && h.Client == o.Client && slices.Equal(h.Clients, o.Clients)
}

// String names the server's host, and the client's if it is another, or those of a
// fleet. Hosts of different names are not the same.
func (h Hosts) String() string {
	switch {
	case len(h.Clients) > 0:
		return h.Server + " in a fleet with " + strings.Join(h.Clients, ", ")
	case h.Client == h.Server || h.Client == "":
		return h.Server
	}
	return h.Server + " with " + h.Client
}

// Word tells hosts from others in a word that fits into an address or an attribute,
// however many clients there are: the server's id if it ran alone.
func (h Hosts) Word() string {
	if len(h.Clients) == 0 {
		return h.Server
	}
	sum := sha256.Sum256([]byte(strings.Join(h.Clients, " ")))
	return fmt.Sprintf("%s-fleet-%x", h.Server, sum[:3])
}
