package shaper

import (
	"fmt"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
)

// A Queue is the queue at the root of an interface, ready to be read.
type Queue struct {
	device  string
	link    netlink.Link
	netlink *netlink.Handle // one socket for all readings, since opening it is most of a reading's cost
}

// Open finds the queue of an interface in the calling process's network
// namespace.
func Open(device string) (*Queue, error) {
	h, err := netlink.NewHandle(syscall.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", device, err)
	}
	link, err := h.LinkByName(device)
	if err != nil {
		h.Close()
		return nil, fmt.Errorf("%s: %w", device, err)
	}
	return &Queue{device, link, h}, nil
}

// Close closes the socket.
func (q *Queue) Close() { q.netlink.Close() }

// Read reads the counters.
func (q *Queue) Read() (Reading, error) {
	queues, err := q.netlink.QdiscList(q.link)
	if err != nil {
		return Reading{}, fmt.Errorf("the queues of %s: %w", q.device, err)
	}
	for _, found := range queues {
		a := found.Attrs()
		if a.Parent != netlink.HANDLE_ROOT || a.Statistics == nil || a.Statistics.Basic == nil || a.Statistics.Queue == nil {
			continue
		}
		return Reading{
			At: time.Now(), Bytes: a.Statistics.Basic.Bytes, Packets: uint64(a.Statistics.Basic.Packets),
			Drops: uint64(a.Statistics.Queue.Drops), CPUS: ownCPU(),
		}, nil
	}
	return Reading{}, fmt.Errorf("%s has no queue that counts at its root", q.device)
}

func ownCPU() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
