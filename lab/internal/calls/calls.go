// Package calls counts the system calls of processes, each by its name, with ptrace.
//
// Count says which call was made how often, in all threads of some processes and of those
// that they start. Every call stops its thread twice, so the processes are several times
// slower meanwhile, and calls that depend on time (a wait, a lock, a timer) are made more
// or less often than else. Those that each request needs are counted exactly.
//
// The kernel lets go of traced processes when the tracer ends, however it ends: processes
// of the caller's own are killed then, and others go on.
package calls

import (
	_ "embed"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Counts are how often calls were made, by their names.
type Counts map[string]int64

// Minus is what was counted since an earlier moment.
func (c Counts) Minus(before Counts) Counts {
	out := Counts{}
	for name, n := range c {
		if n -= before[name]; n != 0 {
			out[name] = n
		}
	}
	return out
}

// Nothing may be counted for so long before what was asked of a server is over. In a program
// that is never quiet that is waited for no longer than mostQuiet.
const (
	quiet     = 30 * time.Millisecond
	mostQuiet = 300 * time.Millisecond
)

// names.txt has a line for each call: its name, and its numbers on amd64 and on arm64.
//
//go:embed names.txt
var table string

// named are the names of calls by their numbers on this machine's architecture.
var named = func() map[uint64]string {
	column := slices.Index([]string{"", "amd64", "arm64"}, runtime.GOARCH)
	out := map[uint64]string{}
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if column < 1 {
			break
		}
		if n, err := strconv.ParseUint(words[column], 10, 32); err == nil {
			out[n] = words[0]
		}
	}
	return out
}()

// nameOf is a call's name; of another architecture's calls only the number is known.
func nameOf(arch uint32, number uint64) string {
	name, ok := named[number]
	switch {
	case arch != native[runtime.GOARCH]:
		return fmt.Sprintf("call %d of another architecture", number)
	case !ok:
		return fmt.Sprintf("call %d", number)
	}
	return name
}

// native are the kernel's names of architectures (linux/audit.h).
var native = map[string]uint32{"amd64": 0xc000003e, "arm64": 0xc00000b7}
