package fleet

import (
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/measure"
)

// A Fleet is this machine, where servers are, and the hosts that load them. It is the link between them, of which the
// engine reads nothing: the relay reads what passes, slot by slot.
type Fleet struct {
	measure.Loopback // servers run here
	Hosts            []Host
	self             string // this program
}

// Host is the servers' address.
func (f *Fleet) Host() string { return f.Hosts[0].reaches }

// Client is the relay in place of a client of this machine.
func (f *Fleet) Client([]string) []string {
	argv := append([]string{"env"}, environment()...)
	argv = append(argv, f.self, relayCall, device(f.Host()))
	for _, h := range f.Hosts {
		argv = append(argv, h.Name+"="+h.Path)
	}
	return argv
}

// device is the interface that has an address; empty if none has.
func device(address string) string {
	all, _ := net.Interfaces()
	at := slices.IndexFunc(all, func(i net.Interface) bool {
		has, _ := i.Addrs()
		return slices.ContainsFunc(has, func(a net.Addr) bool {
			ip, _, _ := strings.Cut(a.String(), "/")
			return ip == address
		})
	})
	if at < 0 {
		return ""
	}
	return all[at].Name
}

const netDir = "/sys/class/net/"

// counter is one of an interface's counters; 0 if it has none.
func counter(dev, name string) int64 { return number(netDir + dev + "/statistics/" + name) }

// speed is an interface's line rate in bits a second; 0 if it does not say.
func speed(dev string) float64 { return max(0, float64(number(netDir+dev+"/speed"))) * 1e6 }

func number(path string) int64 {
	text, _ := os.ReadFile(path)
	n, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return n
}
