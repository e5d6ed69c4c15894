// Package receive gauges how much of a server's CPU time is its client's work.
//
// Between processes on one machine there is no network card. What a server
// sends runs through the receiving side of the network stack at once, on the
// server's core and on the server's CPU clock, before its system call returns:
// over loopback and over a veth pair alike. On a network card the client's
// machine would pay for it. So a raw CPU time a request is too high by that
// part, and the ratio of two servers lies too near to 1.
//
// The gauge is perf's: it samples the stacks of the server's threads by a
// clock, and Share is the part of the samples that handed a packet to its
// receiver. Limits: it sees what the client's TCP does on the server's core,
// and not what it would do elsewhere (interrupts, a card's driver, checksums);
// and it needs the right to sample the kernel.
package receive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/leash"
)

const (
	// hertz is odd, so that samples do not fall in step with timers.
	hertz = 1999
	// leastSamples is the fewest that say anything: at a share of a fifth, its
	// standard error is then 0.02.
	leastSamples = 400
)

// handing is the kernel's function that hands a packet to the protocol that
// receives it. All its variants begin so.
const handing = "__netif_receive_skb"

// A Gauge is what was seen of a server's processes.
type Gauge struct {
	Share   float64 // of the server's CPU time, 0 to 1
	Samples int
}

// Usable says why nothing can be gauged on this machine, and the way out; empty
// if it can be.
func Usable() string {
	if _, err := exec.LookPath("perf"); err != nil {
		return "perf is not installed (Debian: apt-get install linux-perf; Ubuntu: linux-tools-generic)"
	}
	if os.Geteuid() == 0 {
		return ""
	}
	level, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
	if n, bad := strconv.Atoi(strings.TrimSpace(string(level))); err != nil || bad != nil || n > 1 {
		return "this user may not sample the kernel (as root: sysctl kernel.perf_event_paranoid=1 kernel.kptr_restrict=0)"
	}
	return ""
}

// Of samples the processes for a while. Its file goes to a directory of its own
// below dir, which it removes.
func Of(ctx context.Context, dir string, pids []int, window time.Duration) (g Gauge, err error) {
	own, err := os.MkdirTemp(dir, "perf-")
	if err != nil {
		return g, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(own)) }()
	var list []string
	for _, pid := range pids {
		list = append(list, strconv.Itoa(pid))
	}
	data := filepath.Join(own, "data")
	if _, err := perf(ctx, window+10*time.Second, "record", "--quiet", "--event", "cpu-clock", "--freq",
		strconv.Itoa(hertz),
		"-g", "--no-buildid", "--no-buildid-cache", "--pid", strings.Join(list, ","), "--output", data,
		"--", "sleep", strconv.FormatFloat(window.Seconds(), 'f', 3, 64)); err != nil {
		return g, err
	}
	text, err := perf(ctx, 20*time.Second, "script", "--input", data, "--fields", "ip,sym")
	if err != nil {
		return g, err
	}
	return parse(text)
}

// parse counts the stacks that perf script prints, a frame a line and an empty
// line after each stack.
func parse(script []byte) (g Gauge, err error) {
	handed, named := 0, false
	for stack := range strings.SplitSeq(strings.TrimSpace(string(script)), "\n\n") {
		if stack == "" {
			continue
		}
		g.Samples++
		if strings.Contains(stack, " "+handing) {
			handed++
		}
		named = named || strings.Contains(stack, " tcp_") || strings.Contains(stack, " "+handing)
	}
	switch {
	case g.Samples < leastSamples:
		return g, fmt.Errorf("perf took %d samples of the server, and %d are the least that tell", g.Samples, leastSamples)
	case !named:
		return g, errors.New("perf cannot name the kernel's functions (as root: sysctl kernel.kptr_restrict=0)")
	}
	g.Share = float64(handed) / float64(g.Samples)
	return g, nil
}

// perf runs perf on a leash, and returns what it printed.
func perf(ctx context.Context, limit time.Duration, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out bytes.Buffer
	p, err := leash.Start(leash.Spec{Argv: append([]string{"perf"}, args...), Stdout: &out})
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.Stop(p.Pid(), time.Second) }()
	select {
	case <-p.Done():
	case <-ctx.Done():
		return nil, fmt.Errorf("perf %s: %w", args[0], context.Cause(ctx))
	}
	if err := p.Err(); err != nil {
		return nil, fmt.Errorf("perf %s failed: %s", args[0], p.LastLine())
	}
	return out.Bytes(), nil
}
