package tune

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// die ends this process as kill -9 does.
func die() {
	_ = unix.Kill(os.Getpid(), unix.SIGKILL)
	select {}
}

// cookie is the kernel's own number for this network namespace, 0 where it has
// none (before Linux 5.14).
func cookie() uint64 {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	n, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
	if err != nil {
		return 0
	}
	return n
}

// look makes sure that /sys shows this network namespace. A sysfs shows the one
// of whoever mounted it, so after "nsenter --net" it shows another: the
// interface is missing there, or worse, one of the same name is there. Then
// this thread, and nobody else, gets a /sys of its own.
func (m *machine) look() error {
	wrong := mismatch()
	if wrong == "" && m.net.Initial {
		return nil
	}
	err := unix.Unshare(unix.CLONE_NEWNS)
	if err == nil {
		// Or else the mount would be passed on to everyone.
		err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
	if err == nil {
		err = unix.Mount("sysfs", "/sys", "sysfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	}
	// Two namespaces of the same interfaces cannot be told apart, but then the
	// caller was not allowed to mount and will not be allowed to write either.
	if err != nil && wrong != "" {
		return unavailable("/sys shows another network namespace (%s), and this one's cannot be mounted: %v", wrong, err)
	}
	return nil
}

// mismatch names an interface that /sys shows otherwise than this namespace
// has it.
func mismatch() string {
	interfaces, err := net.Interfaces()
	if err != nil {
		return "" // nothing to hold against it
	}
	known := map[string]bool{}
	for _, i := range interfaces {
		known[i.Name] = true
		index, err := os.ReadFile(netDir + i.Name + "/ifindex")
		if err != nil {
			return i.Name + " is missing there"
		}
		address, _ := os.ReadFile(netDir + i.Name + "/address")
		if plain(string(index)) != strconv.Itoa(i.Index) || len(i.HardwareAddr) > 0 && plain(string(address)) != i.HardwareAddr.String() {
			return i.Name + " is another one there"
		}
	}
	entries, _ := os.ReadDir(netDir)
	for _, e := range entries {
		if !known[e.Name()] && e.Type()&os.ModeSymlink != 0 {
			return e.Name() + " is not here"
		}
	}
	return ""
}

// initialUserNamespace is the same inode on every machine.
const initialUserNamespace = 0xEFFFFFFD

// realRoot tells whether this process has a capability in the initial user
// namespace: root of another one may not turn a queue's knobs.
func realRoot(capability int) bool {
	var st unix.Stat_t
	return unix.Stat("/proc/self/ns/user", &st) == nil && st.Ino == initialUserNamespace && capable(capability)
}

// capable tells whether this process has a capability in its own namespace.
func capable(capability int) bool {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		return false
	}
	return data[capability/32].Effective&(1<<(capability%32)) != 0
}

// writable tells beforehand whether a value may be written.
func (m *machine) writable(t target, want string) error {
	if m.tree != "" {
		return nil
	}
	switch t.Kind {
	case kindFile:
		if strings.Contains(t.Path, "/queues/") && !realRoot(unix.CAP_NET_ADMIN) {
			return needsRoot(t.Path)
		}
		err := unix.Faccessat(unix.AT_FDCWD, t.Path, unix.W_OK, unix.AT_EACCESS)
		switch {
		case errors.Is(err, unix.EROFS):
			return unavailable("%s is on a file system that is mounted to be read only", t.Path)
		case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
			return needsRoot(t.Path)
		case err != nil:
			return &os.PathError{Op: "write", Path: t.Path, Err: err}
		}
	case kindChannels:
		if !capable(unix.CAP_NET_ADMIN) {
			return needsRoot(t.Path)
		}
	case kindUnit:
		if os.Geteuid() != 0 {
			return needsRoot(t.Path)
		}
	case kindLimit:
		now, err := m.limit(t.PID)
		if err != nil {
			return err
		}
		old, err := parseLimit(now)
		if err != nil {
			return err
		}
		asked, err := parseLimit(want)
		if err != nil {
			return err
		}
		if asked.Max > old.Max && !realRoot(unix.CAP_SYS_RESOURCE) {
			return needsRoot(t.Path)
		}
		if st, err := os.Stat(fmt.Sprintf("/proc/%d", t.PID)); err == nil && int(st.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() && !realRoot(unix.CAP_SYS_RESOURCE) {
			return needsRoot(t.Path)
		}
	}
	return nil
}

// allowed tells whether this process may turn such a knob on any target.
func (m *machine) allowed(k knob) error {
	if m.tree != "" {
		return nil
	}
	switch k.(type) {
	case *rps, *rfs, *xps:
		if !realRoot(unix.CAP_NET_ADMIN) {
			return unavailable("needs root: run with sudo (%s*/queues)", netDir)
		}
	case *queues, *mtu:
		if !capable(unix.CAP_NET_ADMIN) {
			return unavailable("needs root: run with sudo (%s*)", netDir)
		}
	case *irqPin:
		if !realRoot(unix.CAP_DAC_OVERRIDE) {
			return unavailable("needs root: run with sudo (/proc/irq)")
		}
	}
	return nil
}

// ethtoolChannels is the kernel's struct ethtool_channels.
type ethtoolChannels struct {
	cmd                                 uint32
	maxRX, maxTX, maxOther, maxCombined uint32
	rx, tx, other, combined             uint32
}

func ethtool(dev string, arg *ethtoolChannels) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	// The kernel's struct ifreq, of which it reads a name and an address.
	var request struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [24 - unsafe.Sizeof(uintptr(0))]byte
	}
	copy(request.name[:unix.IFNAMSIZ-1], dev)
	request.data = unsafe.Pointer(arg)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	return nil
}

func ioctlChannels(dev string) (now, most channels, err error) {
	arg := ethtoolChannels{cmd: unix.ETHTOOL_GCHANNELS}
	if err := ethtool(dev, &arg); err != nil {
		if errors.Is(err, unix.EOPNOTSUPP) {
			return now, most, unavailable("the driver of %s does not let its queues be counted", dev)
		}
		return now, most, fmt.Errorf("%s: %w", channelsName(dev), err)
	}
	return channels{int(arg.rx), int(arg.tx), int(arg.other), int(arg.combined)},
		channels{int(arg.maxRX), int(arg.maxTX), int(arg.maxOther), int(arg.maxCombined)}, nil
}

func ioctlSetChannels(dev string, c channels) error {
	arg := ethtoolChannels{cmd: unix.ETHTOOL_SCHANNELS, rx: uint32(c.rx), tx: uint32(c.tx), other: uint32(c.other), combined: uint32(c.combined)}
	err := ethtool(dev, &arg)
	switch {
	case errors.Is(err, unix.EOPNOTSUPP):
		return unavailable("the driver of %s does not let its queues be set", dev)
	case err != nil:
		return fmt.Errorf("%s: %w", channelsName(dev), err)
	}
	return nil
}

func setRealLimit(pid int, l limits) error {
	raw := unix.Rlimit{Cur: l.Cur, Max: l.Max}
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &raw, nil); err != nil {
		return fmt.Errorf("%s: %w", limitName(pid), err)
	}
	return nil
}

// infinite is how the kernel says "unlimited".
const infinite = uint64(math.MaxUint64)

// ownedSafely tells whether nobody else can write to a file or directory.
func ownedSafely(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}

// machineRoot tells whether this is root of the machine, not of a user
// namespace: only the former can write below /var/lib.
func machineRoot() bool {
	var st unix.Stat_t
	return os.Geteuid() == 0 && unix.Stat("/proc/self/ns/user", &st) == nil && st.Ino == initialUserNamespace
}

// apart puts a process into a session of its own: what ends its parent's group
// or terminal does not end it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
