package verdict

import (
	"slices"

	"github.com/line-rate/line-rate/lab/internal/results"
)

// Hosts are those of the file's record.
func (f *File) Hosts() results.Hosts {
	return results.Hosts{Server: f.Host, Client: f.ClientHost, Clients: f.Fleet}
}

// Pair names them.
func (f *File) Pair() string { return f.Hosts().String() }

// Claim is what a file says about a claim that stands.
func (f *File) Claim(id string) (Claim, bool) { return ClaimIn(f.Claims, id) }

// ClaimIn finds a claim by its id.
func ClaimIn(claims []Claim, id string) (Claim, bool) {
	i := slices.IndexFunc(claims, func(c Claim) bool { return c.ID == id })
	if i < 0 {
		return Claim{}, false
	}
	return claims[i], true
}
