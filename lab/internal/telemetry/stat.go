package telemetry

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// A stat is what is wanted of /proc/PID/stat. procfs reads all of its fields,
// with fmt, and takes ten times as long: too dear for what is read of every
// process several times a second.
type stat struct {
	name      string
	state     byte
	parent    int
	flags     int
	cpu       int // ticks of its own
	children  int // ticks of children it has waited for
	threads   int
	began     int // ticks from the machine's start
	rss       int // bytes
	processor int // where it ran last
}

func readStat(pid int) (stat, error) {
	var buf [1024]byte // the kernel's line is shorter: a name has sixteen bytes
	text, err := slurp("/proc/"+strconv.Itoa(pid)+"/stat", buf[:])
	if err != nil {
		return stat{}, err
	}
	return parseStat(text)
}

// parseStat reads the line. The name, in parentheses, may hold anything, even
// parentheses and blanks; the numbers begin behind the last one.
func parseStat(text []byte) (s stat, err error) {
	open, shut := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || shut < open {
		return s, fmt.Errorf("no process's line: %q", text)
	}
	f := bytes.Fields(text[shut+1:])
	const last = 39 // the processor, by the numbering of proc(5); the state is 3
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
