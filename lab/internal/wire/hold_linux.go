package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"os"
	"os/signal"
	"path"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/slots"
)

// Called carries out a call of the program by itself; false for any other.
func Called(args []string) (status int, is bool) {
	switch {
	case len(args) == 4 && args[0] == holdCall:
		var s Spec
		_, err := fmt.Sscan(strings.Join(args[1:], " "), &s.LineRateBps, &s.BurstBytes, &s.QueueS)
		if err == nil {
			err = hold(s)
		}
		if err != nil {
			_ = json.NewEncoder(os.Stdout).Encode(answer{Why: err.Error()})
		}
		return 0, true
	case len(args) > 3 && args[0] == EnterCall && args[2] == "--":
		status, err := enter(args[1], args[3:])
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", EnterCall, err)
		}
		return status, true
	}
	return 0, false
}

// hold makes a wire and holds it until its input ends. It is the first process of its PID
// namespace, in the network namespace that is the client's.
func hold(s Spec) error {
	signal.Ignore(syscall.SIGCHLD) // the kernel reaps what has lost its parent
	var server, client side
	opened := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the server's namespace is this thread's
		opened <- cmp.Or(unix.Unshare(unix.CLONE_NEWNET), server.open())
		select {}
	}()
	err := cmp.Or(<-opened, client.open())
	if err == nil {
		pair := &netlink.Veth{LinkAttrs: netlink.NewLinkAttrs(), PeerName: ServerDevice, PeerNamespace: netlink.NsPid(server.tid)}
		pair.Name = ClientDevice
		err = client.handle.LinkAdd(pair)
	}
	if err != nil {
		return fmt.Errorf("the kernel makes no pair of virtual interfaces here: %w", err)
	}
	if err := cmp.Or(server.up(s, ServerDevice, ServerAddress), client.up(s, ClientDevice, ClientAddress)); err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	a := answer{Server: server.outside, Client: client.outside}
	for {
		if err := out.Encode(a); err != nil {
			return nil
		}
		if _, err := os.Stdin.Read(make([]byte, 1)); err != nil {
			return nil
		}
		tx, err := server.read()
		rx, wrong := client.read()
		if err := cmp.Or(err, wrong); err != nil {
			return err
		}
		a.Passed = slots.Passed{TxBytes: int64(tx.Basic.Bytes), TxPackets: int64(tx.Basic.Packets), RxBytes: int64(rx.Basic.Bytes),
			RxPackets: int64(rx.Basic.Packets), Drops: int64(tx.Queue.Drops) + int64(rx.Queue.Drops)}
	}
}

// A side is one end of the wire.
type side struct {
	tid, outside int // this thread's number, here and where /proc is from
	handle       *netlink.Handle
	link         netlink.Link
}

// open reaches the network namespace of the calling thread. The handle stays there.
func (s *side) open() (err error) {
	s.tid = unix.Gettid()
	thread, _ := os.Readlink("/proc/thread-self")
	if s.outside, err = strconv.Atoi(path.Base(thread)); err == nil {
		s.handle, err = netlink.NewHandle(unix.NETLINK_ROUTE)
	}
	return err
}

// up gives a side its address and its shaper.
func (s *side) up(spec Spec, device, address string) (err error) {
	for _, name := range []string{"lo", device} {
		if s.link, err = s.handle.LinkByName(name); err == nil {
			err = s.handle.LinkSetUp(s.link)
		}
		if err != nil {
			return fmt.Errorf("the interface %s: %w", name, err)
		}
	}
	at := &net.IPNet{IP: net.ParseIP(address), Mask: net.CIDRMask(24, 32)}
	if err := s.handle.AddrAdd(s.link, &netlink.Addr{IPNet: at}); err != nil {
		return fmt.Errorf("the address of %s: %w", device, err)
	}
	rate := spec.LineRateBps / 8
	ticks := float64(spec.BurstBytes) / rate * netlink.TIME_UNITS_PER_SEC * netlink.TickInUsec()
	limit := rate*spec.QueueS + float64(spec.BurstBytes)
	if !(rate >= 1) || !(ticks >= 1 && ticks <= math.MaxUint32) || !(limit >= 1 && limit <= math.MaxUint32) {
		return fmt.Errorf("the kernel has no shaper of %.0f bit/s with a burst of %d bytes and a queue of %v s",
			spec.LineRateBps, spec.BurstBytes, spec.QueueS)
	}
	err = s.handle.QdiscAdd(&netlink.Tbf{Rate: uint64(rate), Limit: uint32(limit), Buffer: uint32(ticks),
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: s.link.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT}})
	if err != nil {
		return fmt.Errorf("the kernel makes no shaper here (sch_tbf): %w", err)
	}
	return nil
}

// read gives the counters of the side's shaper.
func (s *side) read() (*netlink.QdiscStatistics, error) {
	all, err := s.handle.QdiscList(s.link)
	for _, q := range all {
		if a := q.Attrs(); a.Parent == netlink.HANDLE_ROOT && a.Statistics != nil && a.Statistics.Basic != nil && a.Statistics.Queue != nil {
			return a.Statistics, nil
		}
	}
	return nil, cmp.Or(err, fmt.Errorf("%s has no shaper that counts", s.link.Attrs().Name))
}
