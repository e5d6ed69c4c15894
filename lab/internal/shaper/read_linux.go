package shaper

import (
	"fmt"
	"syscall"

	"github.com/vishvananda/netlink"

	"github.com/line-rate/line-rate/lab/load"
)

// A queue is the queue at the root of an interface, ready to be read.
type queue struct {
	device  string
	link    netlink.Link
	netlink *netlink.Handle // one socket for all readings, since opening it is most of a reading's cost
}

// Open finds the queue of an interface in the calling process's network
// namespace.
func Open(device string) (load.Queue, error) {
	h, err := netlink.NewHandle(syscall.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", device, err)
	}
	link, err := h.LinkByName(device)
	if err != nil {
		h.Close()
		return nil, fmt.Errorf("%s: %w", device, err)
	}
	return &queue{device, link, h}, nil
}

func (q *queue) Close() { q.netlink.Close() }

func (q *queue) Read() (load.Passed, error) {
	queues, err := q.netlink.QdiscList(q.link)
	if err != nil {
		return load.Passed{}, fmt.Errorf("the queues of %s: %w", q.device, err)
	}
	for _, found := range queues {
		a := found.Attrs()
		if s := a.Statistics; a.Parent == netlink.HANDLE_ROOT && s != nil && s.Basic != nil && s.Queue != nil {
			return load.Passed{Bytes: s.Basic.Bytes, Packets: uint64(s.Basic.Packets), Drops: uint64(s.Queue.Drops)}, nil
		}
	}
	return load.Passed{}, fmt.Errorf("%s has no queue that counts at its root", q.device)
}
