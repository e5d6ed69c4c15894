package shaper

import (
	"fmt"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
)

// Read reads the queue at the root of an interface of the calling process's
// network namespace.
func Read(device string) (Reading, error) {
	link, err := netlink.LinkByName(device)
	if err != nil {
		return Reading{}, fmt.Errorf("%s: %w", device, err)
	}
	queues, err := netlink.QdiscList(link)
	if err != nil {
		return Reading{}, fmt.Errorf("the queues of %s: %w", device, err)
	}
	for _, q := range queues {
		a := q.Attrs()
		if a.Parent != netlink.HANDLE_ROOT || a.Statistics == nil || a.Statistics.Basic == nil || a.Statistics.Queue == nil {
			continue
		}
		return Reading{
			At: time.Now(), Bytes: a.Statistics.Basic.Bytes, Packets: uint64(a.Statistics.Basic.Packets),
			Drops: uint64(a.Statistics.Queue.Drops), CPUS: ownCPU(),
		}, nil
	}
	return Reading{}, fmt.Errorf("%s has no queue that counts at its root", device)
}

func ownCPU() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
