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
	"syscall"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/slots"
)

// Called carries out a call of the program by itself; false for any other.
func Called(args []string) (status int, is bool) {
	switch {
	case len(args) == 2 && args[0] == holdCall:
		if err := hold(args[1]); err != nil {
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

// apart are the attributes of a holder.
func apart(user bool) *syscall.SysProcAttr {
	how := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWPID}
	how.Setpgid = true
	if user {
		how.Cloneflags |= syscall.CLONE_NEWUSER
		how.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		how.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	return how
}

// hold makes a wire and holds it until its input ends. It is the first process of its PID
// namespace, in the network namespace that is the client's.
func hold(text string) error {
	var spec Spec
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGCHLD) // the kernel reaps what has lost its parent
	server, client := side{device: ServerDevice, address: ServerAddress}, side{device: ClientDevice, address: ClientAddress}
	opened := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the server's namespace is this thread's
		opened <- cmp.Or(unix.Unshare(unix.CLONE_NEWNET), server.open())
		select {}
	}()
	err := cmp.Or(<-opened, client.open())
	if err == nil {
		pair := &netlink.Veth{LinkAttrs: netlink.NewLinkAttrs(), PeerName: server.device, PeerNamespace: netlink.NsPid(server.tid)}
		pair.Name = client.device
		err = client.handle.LinkAdd(pair)
	}
	if err != nil {
		return fmt.Errorf("the kernel makes no pair of virtual interfaces here: %w", err)
	}
	if err := cmp.Or(server.up(spec), client.up(spec)); err != nil {
		return err
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	a := answer{Server: server.outside, Client: client.outside}
	for {
		if err := out.Encode(a); err != nil {
			return nil
		}
		if err := in.Decode(&struct{}{}); err != nil {
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
	device, address string
	tid, outside    int // the thread whose namespace it is, by its number here and where /proc is from
	handle          *netlink.Handle
	link            netlink.Link
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

// up gives the side its address and its shaper.
func (s *side) up(spec Spec) (err error) {
	for _, name := range []string{"lo", s.device} {
		if s.link, err = s.handle.LinkByName(name); err == nil {
			err = s.handle.LinkSetUp(s.link)
		}
		if err != nil {
			return fmt.Errorf("the interface %s: %w", name, err)
		}
	}
	at := &net.IPNet{IP: net.ParseIP(s.address), Mask: net.CIDRMask(24, 32)}
	if err := s.handle.AddrAdd(s.link, &netlink.Addr{IPNet: at}); err != nil {
		return fmt.Errorf("the address of %s: %w", s.device, err)
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
		if a := q.Attrs(); a.Parent == netlink.HANDLE_ROOT && a.Statistics != nil {
			return a.Statistics, nil
		}
	}
	return nil, cmp.Or(err, fmt.Errorf("%s has no shaper that counts", s.device))
}
