package tune

import (
	_ "embed"
	"flag"
	"fmt"
	"io"
	"strings"
)

// options are the parsed options; each knob uses some of them.
type options struct {
	state, dev, cpus      string
	entries               int
	tableOnly, queuesOnly bool
	// look is set where only the targets matter, so the values to set may be
	// missing.
	look bool
}

// flags is the set of the options that a knob's row in the table names.
func (o *options) flags(k *knob) *flag.FlagSet {
	all, fs := flag.NewFlagSet("", flag.ContinueOnError), flag.NewFlagSet("", flag.ContinueOnError)
	all.StringVar(&o.dev, "dev", "", "")
	all.StringVar(&o.cpus, "cpus", "", "")
	all.IntVar(&o.entries, "entries", 32768, "")
	all.BoolVar(&o.tableOnly, "table-only", false, "")
	all.BoolVar(&o.queuesOnly, "queues-only", false, "")
	fs.StringVar(&o.state, "state", "", "")
	all.VisitAll(func(f *flag.Flag) {
		if k != nil && strings.Contains(k.takes, "--"+f.Name) {
			fs.Var(f.Value, f.Name, "")
		}
	})
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs
}

// Usage is the help text of the command line.
func Usage() string {
	var rows strings.Builder
	for _, k := range knobs {
		name, says := k.name, strings.Split(k.says, "\n")
		for i, takes := range strings.Split(k.takes, "\n") {
			rows.WriteString(strings.TrimRight(fmt.Sprintf("  %-11s %-31s %s", name, takes, says[i]), " ") + "\n")
			name = ""
		}
	}
	return fmt.Sprintf(usage, rows.String())
}

//go:embed usage.txt
var usage string
