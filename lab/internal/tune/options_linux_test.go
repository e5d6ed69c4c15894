package tune

import (
	"errors"
	"flag"
	"regexp"
	"strings"
	"testing"
)

func TestReadRefusesWhatIsNoCall(t *testing.T) {
	for words, args := range map[string][]string{
		"which knob?":          {},
		"no knob \"rsp\"":      {"rsp"},
		"neither an option":    {"rps", "aply", "--dev", "x"},
		"not defined: -gev":    {"rps", "--gev", "x"},
		"restore of all knobs": {"restore", "rps"},
		"invalid value":        {"rfs", "--dev", "x", "--entries", "many"},
	} {
		if _, err := Read(args); err == nil || !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v; want %q", args, err, words)
		}
	}
	for _, args := range [][]string{{"-h"}, {"rps", "-h"}, {"rps", "apply", "--help"}} {
		if _, err := Read(args); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// A knob's options are named in the table, from which help prints them, and
// nowhere else.
func TestHelpNamesEveryKnobAndEveryOptionIsRead(t *testing.T) {
	option := regexp.MustCompile(`--([a-z-]+)`)
	named := map[string]bool{}
	for _, k := range knobs {
		if !strings.Contains(Usage(), "\n  "+k.name+" ") {
			t.Errorf("help has no row of %s", k.name)
		}
		fs := (&options{}).flags(k)
		for _, m := range option.FindAllStringSubmatch(k.takes, -1) {
			if named[m[1]] = true; fs.Lookup(m[1]) == nil {
				t.Errorf("%s takes no %s, and help says that it does", k.name, m[0])
			}
		}
	}
	for _, o := range []string{"dev", "cpus", "entries", "table-only", "queues-only"} {
		if !named[o] {
			t.Errorf("no knob takes --%s", o)
		}
	}
}
