package tune

import (
	"errors"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// cookie is the kernel's number for this network namespace; 0 before Linux
// 5.14.
func cookie() uint64 {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer unix.Close(fd)
	n, _ := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
	return n
}

// see makes sure that /sys shows this network namespace. A sysfs shows the
// namespace of the process that mounted it, so after "nsenter --net" it shows
// another: the interface is missing or, worse, it is another one of the same
// name. Then this thread alone gets a /sys of its own.
func (m *machine) see() error {
	wrong := mismatch()
	if wrong == "" && m.net.Initial {
		return nil
	}
	err := unix.Unshare(unix.CLONE_NEWNS)
	if err == nil {
		// Without this the mount would be propagated to other namespaces.
		err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	}
	if err == nil {
		err = unix.Mount("sysfs", "/sys", "sysfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	}
	// Two namespaces with the same interfaces cannot be told apart. But a caller
	// who may not mount may not write either.
	if err != nil && wrong != "" {
		return unavailable("/sys shows another network namespace (%s), and this one's cannot be mounted: %v", wrong, err)
	}
	return nil
}

// mismatch names an interface that differs between /sys and this namespace;
// empty where none does.
func mismatch() string {
	interfaces, err := net.Interfaces()
	if err != nil {
		return "" // nothing to compare with
	}
	known, real := map[string]bool{}, machine{}
	for _, i := range interfaces {
		known[i.Name] = true
		there, err := real.device(i.Name)
		if err != nil {
			return i.Name + " is missing there"
		}
		address, _ := real.text(there.Path + "/address")
		if there.Index != i.Index || len(i.HardwareAddr) > 0 && address != i.HardwareAddr.String() {
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

// initialUser tells whether this process is in the initial user namespace,
// which has the same inode on every machine.
func initialUser() bool {
	var st unix.Stat_t
	return unix.Stat("/proc/self/ns/user", &st) == nil && st.Ino == 0xEFFFFFFD
}

// realRoot tells whether this process has a capability in the initial user
// namespace: root of another namespace may not change a queue's settings.
func realRoot(capability int) bool {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	err := unix.Capget(&head, &data[0])
	return initialUser() && err == nil && data[capability/32].Effective&(1<<(capability%32)) != 0
}

// access tells whether this process may write a file.
func access(path string) error {
	switch err := unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS); {
	case errors.Is(err, unix.EROFS):
		return unavailable("%s is on a file system that is mounted to be read only", path)
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return needsRoot(path)
	case err != nil:
		return &os.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}
