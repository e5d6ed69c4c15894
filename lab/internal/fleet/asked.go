package fleet

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/cores"
)

// Asked is what the host that starts a run asks of another: what the inventory
// says of it.
type Asked struct {
	Version  int     `json:"version"`
	Server   bool    `json:"server,omitempty"`        // whether it is the server's host
	Address  string  `json:"address"`                 // where clients reach the server
	Device   string  `json:"device,omitempty"`        // empty: the interface of the route
	CPUs     string  `json:"cpus,omitempty"`          // empty: all
	LineRate float64 `json:"line_rate_bps,omitempty"` // 0: as the interface says
	Clients  int     `json:"clients,omitempty"`       // of the server: how many there will be
	Terminal bool    `json:"terminal,omitempty"`      // of the server: whether a person watches its progress on a terminal
}

func (a Asked) check() error {
	if a.LineRate < 0 || a.Clients < 0 || a.Clients > mostClients {
		return errors.New("a number out of its bounds")
	}
	return oneLine("a text", a.Address, a.Device, a.CPUs)
}

// cpus are those that the load, or the servers, may use, out of the allowed ones.
func (a Asked) cpus(allowed []int) ([]int, error) {
	if a.CPUs == "" {
		return allowed, nil
	}
	cpus, err := cores.Parse(a.CPUs)
	if err != nil {
		return nil, fmt.Errorf("line_rate_cpus: %w", err)
	}
	for _, c := range cpus {
		if !slices.Contains(allowed, c) {
			return nil, fmt.Errorf("line_rate_cpus %s: CPU %d cannot be used there; %s can", a.CPUs, c, cores.Format(allowed))
		}
	}
	return cpus, nil
}

// device is the interface that leads to the other hosts.
func (a Asked) device() (on string, err error) {
	if a.Server {
		ip, err := netip.ParseAddr(a.Address)
		if err != nil || !ip.Is4() {
			return "", fmt.Errorf("its servers listen at an IPv4 address, and %q is none; set line_rate_address", a.Address)
		}
		if on = holds(ip.AsSlice()); on == "" {
			return "", fmt.Errorf("it has no interface with the address %s, as behind NAT, so its servers cannot listen "+
				"there; set line_rate_address to one that it has and the clients reach", ip)
		}
	}
	switch {
	case a.Device != "":
		if _, err := net.InterfaceByName(a.Device); err != nil {
			return "", fmt.Errorf("line_rate_device: there is no interface %q", a.Device)
		}
		return a.Device, nil
	case a.Server:
		return on, nil
	}
	return leadsTo(a.Address)
}

// leadsTo is the interface of the route to an address. Nothing is sent.
func leadsTo(address string) (string, error) {
	c, err := net.Dial("udp", net.JoinHostPort(address, "9"))
	if err != nil {
		return "", fmt.Errorf("no route from there to the load's other end: %w; set line_rate_address and line_rate_device",
			err)
	}
	defer c.Close()
	return holds(c.LocalAddr().(*net.UDPAddr).IP), nil
}

// holds is the interface that has an address; empty if none has.
func holds(ip net.IP) string {
	all, err := net.Interfaces()
	if err != nil {
		return ""
	}
	for _, i := range all {
		has, _ := i.Addrs()
		for _, a := range has {
			n, ok := a.(*net.IPNet)
			if ok && (ip.Equal(n.IP) || ip.IsLoopback() && i.Flags&net.FlagLoopback != 0) {
				return i.Name
			}
		}
	}
	return ""
}
