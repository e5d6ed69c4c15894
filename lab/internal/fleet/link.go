package fleet

import (
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/slots"
)

// A Fleet is this machine, where servers are, and the hosts that load them. It is the link between them.
type Fleet struct {
	Hosts []Host
	self  string // this program
}

// Host is the servers' address.
func (f *Fleet) Host() string { return f.Hosts[0].reaches }

// Server is the command itself: servers run here.
func (f *Fleet) Server(argv []string) []string { return argv }

// Client is the relay in place of a client of this machine.
func (f *Fleet) Client([]string) []string {
	argv := append([]string{"env"}, environment()...)
	argv = append(argv, f.self, relayCall, device(f.Host()))
	for _, h := range f.Hosts {
		argv = append(argv, h.Name+"="+h.Path)
	}
	return argv
}

// Read has nothing: what passes is read by the relay, slot by slot.
func (f *Fleet) Read() (slots.Passed, error) { return slots.Passed{}, nil }

func (f *Fleet) PID() int      { return 0 }
func (f *Fleet) Wrappers() int { return 0 }
func (f *Fleet) Lost() bool    { return false }
func (f *Fleet) Down()         {}

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
