package telemetry

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// A stat has the fields of /proc/PID/stat that the samples need. procfs parses
// all fields with fmt and takes ten times as long, too much for every process
// several times a second.
type stat struct {
	name      string
	state     byte
	parent    int
	flags     int
	cpu       int // ticks, without children
	children  int // ticks of ended children that it waited for
	threads   int
	began     int // ticks since boot
	rss       int // bytes
	processor int // core that it last ran on
}

func readStat(pid int) (stat, error) {
	var buf [1024]byte // longer than any line of the kernel: a name has at most sixteen bytes
	text, err := slurp("/proc/"+strconv.Itoa(pid)+"/stat", buf[:])
	if err != nil {
		return stat{}, err
	}
	return parseStat(text)
}

// parseStat parses the line. The name in parentheses may contain anything, even
// parentheses and blanks; the numbers begin after the last parenthesis.
func parseStat(text []byte) (s stat, err error) {
	open, shut := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || shut < open {
		return s, fmt.Errorf("no process's line: %q", text)
	}
	f := bytes.Fields(text[shut+1:])
	const last = 39 // the processor's field number in proc(5); the state is 3
	if len(f) < last-2 {
		return s, fmt.Errorf("%d fields behind the name: %q", len(f), text)
	}
	number := func(n int) int {
		v, e := strconv.Atoi(string(f[n-3]))
		if e != nil && err == nil {
			err = fmt.Errorf("field %d: %w", n, e)
		}
		return v
	}
	s = stat{
		name: string(text[open+1 : shut]), state: f[0][0], parent: number(4), flags: number(9),
		cpu: number(14) + number(15), children: number(16) + number(17), threads: number(20), began: number(22),
		rss: number(24) * os.Getpagesize(), processor: number(last),
	}
	return s, err
}
