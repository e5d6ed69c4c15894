package verdict

import (
	"slices"
	"strings"
)

// Pair names a file's host, and the client's host if it is another, or those of a
// fleet. Records of different names are never counted together.
func (f *File) Pair() string { return PairOf(f.Host, f.ClientHost, f.Fleet) }

// PairOf names the hosts of a record.
func PairOf(host, client string, fleet []string) string {
	switch {
	case len(fleet) > 0:
		return host + " in a fleet with " + strings.Join(fleet, ", ")
	case client == host || client == "":
		return host
	}
	return host + " with " + client
}

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
