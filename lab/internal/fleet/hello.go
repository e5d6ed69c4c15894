package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/tune"
)

// An Owner is a checkout with the machine that it is on.
type Owner struct {
	Root    string
	Self    string       // the lab's own program
	Profile host.Profile // of the machine
	Allowed []int        // CPUs that the lab may run on
}

// Say gathers what this host says of itself.
func (o Owner) Say(a Asked) (Hello, error) {
	h := Hello{Version: protocol, Profile: o.Profile, Tools: host.Tools(o.Root), Kernel: host.Kernel("/"),
		Memory: host.Memory("/"), Binaries: map[string]host.Binary{}}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if h.Machine = strings.TrimSpace(string(boot)); err != nil {
		return h, err
	}
	if !cores.ReadQuota("/proc", "/sys/fs/cgroup", "self").Seen {
		return h, errors.New("no control group says whether the lab is held back there, and a trial that may have been " +
			"stopped unseen is invalid; mount the control groups at /sys/fs/cgroup (on Alpine, rc-service cgroups start)")
	}
	left, err := tune.All()
	if err != nil {
		return h, err
	}
	for _, l := range left {
		if !l.Service {
			h.Left = append(h.Left, said(l.String()))
		}
	}
	h.Commit, h.Dirty = host.Commit(o.Root)
	for _, name := range []string{"lab", "http_load"} {
		found, err := host.FindPrograms(o.Root, o.Self, []string{name})
		switch {
		case err == nil:
			h.Binaries[name] = found.Binaries()[name]
		case host.Own(name):
			return h, err
		}
	}
	if h.CPUs, err = a.cpus(o.Allowed); err != nil {
		return h, err
	}
	if h.Device, err = a.device(); err != nil {
		return h, err
	}
	if h.LineRate = a.LineRate; h.LineRate == 0 {
		h.LineRate = speed(h.Device)
	}
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return h, err
	}
	h.Files = uint64(l.Max)
	if !a.Server {
		err = o.starts(h.CPUs)
	}
	_, h.Note = clock()
	return h, err
}

// starts has the script of the load check that it can start.
func (o Owner) starts(cpus []int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	check := exec.CommandContext(ctx, filepath.Join(o.Root, trialScript), "--check", "--generator", "http_load", "--plan",
		"-", "--cpus", cores.Format(cpus))
	check.Dir, check.Env, check.WaitDelay = o.Root, leash.Environment(), time.Second
	out, err := check.CombinedOutput()
	if err == nil {
		return nil
	}
	return errors.New(lastLine(string(out), fmt.Errorf("%s --check: %w", trialScript, err)))
}

// trialScript is the load's script, from the root.
const trialScript = "lab/scripts/trial.sh"

// speed is an interface's line rate in bits a second; 0 if it is unknown, as that
// of loopback is.
func speed(device string) float64 {
	i, err := net.InterfaceByName(device)
	if err != nil || device == "" {
		return 0
	}
	at := filepath.Join("/sys/class/net", device)
	// In a network namespace /sys may be that of another one, which ethtool does not
	// look at.
	if host.Line(at, "ifindex") == strconv.Itoa(i.Index) && host.Line(at, "address") == i.HardwareAddr.String() {
		return megabits(host.Line(at, "speed"))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	asked := exec.CommandContext(ctx, "ethtool", device)
	asked.Env, asked.WaitDelay = []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin", "LC_ALL=C"}, time.Second
	if asked.Err != nil {
		asked.Path, asked.Err = "/usr/sbin/ethtool", nil
	}
	out, err := asked.Output()
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(out), "Speed: ")
	n, _, _ := strings.Cut(rest, "Mb/s")
	return megabits(n)
}

// megabits reads a speed as the kernel gives it: -1, or a number that no interface
// has, is unknown.
func megabits(text string) float64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > 10_000_000 {
		return 0
	}
	return float64(n) * 1e6
}

// counters are the bytes that an interface of this network namespace has received
// and sent; -1 if they cannot be read.
func counters(device string) (rx, tx int64) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return -1, -1
	}
	all, err := fs.NetDev()
	if line, ok := all[device]; ok && err == nil {
		return int64(line.RxBytes), int64(line.TxBytes)
	}
	return -1, -1
}
