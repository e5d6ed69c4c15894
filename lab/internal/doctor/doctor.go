// Package doctor says what keeps a machine from measuring, before anything is run on it.
//
// Each finding says what was seen, what that means, and how to mend it. The doctor needs no root, changes
// nothing, and measures nothing. Whether a block was disturbed, and what bounded it, only the run can say.
package doctor

import (
	"fmt"
	"io"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
)

// A Level says how much a finding matters.
type Level string

// Good findings need nothing; limits keep something from being measured, or disturb it; faults end runs
// before they begin.
const (
	Good  Level = "ok"
	Limit Level = "limit"
	Fault Level = "fault"
)

// A Finding is one observation.
type Finding struct {
	Level Level
	About string
	Seen  string
	Means string // its effect; empty for Good
	Mend  string // command to type; empty if nothing can or need be done
}

// A Machine is the machine to examine.
type Machine struct {
	Split   cores.Split  // how its cores would be divided
	Allowed []int        // CPUs that this process may use
	Wire    func() error // whether a wire can be made: wire.Try; nil: it is not tried

	root string // empty, except in tests
}

// Findings are what was seen of what can be seen here.
func (m Machine) Findings() (fs []Finding) {
	for _, look := range []struct {
		about string
		see   func(Machine) (seen, means, mend string) // what needs nothing has no meaning
	}{
		{"cores", Machine.division}, {"CPU quota", Machine.quota}, {"frequency", Machine.frequency}, {"perf", Machine.sampling},
		{"ptrace", Machine.ptrace}, {"wire", Machine.wire},
	} {
		f := Finding{Level: Good, About: look.about}
		if f.Seen, f.Means, f.Mend = look.see(m); f.Means != "" {
			f.Level = Limit
		}
		if f.Seen != "" {
			fs = append(fs, f)
		}
	}
	return fs
}

// Print writes findings for a reader: first what prevents or disturbs, the worst first, and last what is in
// order.
func Print(w io.Writer, fs []Finding) error {
	var b strings.Builder
	for _, level := range []Level{Fault, Limit, Good} {
		for _, f := range fs {
			if f.Level != level {
				continue
			}
			fmt.Fprintf(&b, "%-7s%-16s%s\n", f.Level, f.About, f.Seen)
			if f.Means != "" {
				fmt.Fprintf(&b, "%23s%s\n", "", f.Means)
			}
			if f.Mend != "" {
				fmt.Fprintf(&b, "%23sto mend it: %s\n", "", f.Mend)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
