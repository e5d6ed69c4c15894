package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A Stat has the fields of /proc/PID/stat that samples need. procfs parses
// all fields with fmt and takes ten times as long, too much for every process
// several times a second.
type Stat struct {
	Name     string
	State    byte
	Parent   int
	Children int // ticks of ended children that it waited for
	Threads  int
	Began    int // ticks since boot
	RSS      int // bytes
}

// ReadStat reads a process; an error says that it has ended.
func ReadStat(pid int) (Stat, error) {
	var buf [1024]byte // longer than any line of the kernel: a name has at most sixteen bytes
	text, err := Slurp("/proc/"+strconv.Itoa(pid)+"/stat", buf[:])
	if err != nil {
		return Stat{}, err
	}
	return parseStat(text)
}

// parseStat parses the line. The name in parentheses may contain anything, even
// parentheses and blanks; the numbers begin after the last parenthesis.
func parseStat(text []byte) (s Stat, err error) {
	open, shut := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || shut < open {
		return s, fmt.Errorf("no process's line: %q", text)
	}
	f := bytes.Fields(text[shut+1:])
	const last = 24 // the field number of RSS in proc(5); the state is 3
	if len(f) < last-2 {
		return s, fmt.Errorf("%d fields behind the Name: %q", len(f), text)
	}
	number := func(n int) int {
		v, _ := strconv.Atoi(string(f[n-3])) // the kernel writes numbers
		return v
	}
	return Stat{
		Name: string(text[open+1 : shut]), State: f[0][0], Parent: number(4),
		Children: number(16) + number(17), Threads: number(20), Began: number(22),
		RSS: number(last) * os.Getpagesize(),
	}, nil
}

// Slurp reads a small file of /proc in one go, into a buffer that is large enough. This
// takes half the system calls of os.ReadFile, which asks for a size that /proc does not
// know, registers the file for polling, and reads until the end.
func Slurp(path string, buf []byte) ([]byte, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	n, err := unix.Read(fd, buf)
	_ = unix.Close(fd)
	if err == nil && (n == 0 || n == len(buf)) {
		err = fmt.Errorf("%s: %d bytes, which are not all or none", path, n)
	}
	return buf[:max(n, 0)], err
}

// byScheduler is CPUCLOCK_SCHED: the low bits of a clock's number say what it counts, the others give the
// process. It is the scheduler's own count, in nanoseconds, where a tick of /proc is a hundredth of a second.
const byScheduler = 2

// Time is the CPU time of any user's process, including its ended threads. An ended process keeps its
// clock until its parent has waited for it; after that ok is false. The kernel uses a pid again for
// another process, so a later reader should know when the process started.
func Time(pid int) (t time.Duration, ok bool) {
	var spec unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|byScheduler), &spec)
	return time.Duration(spec.Nano()), err == nil
}
