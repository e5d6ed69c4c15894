package check

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// anyCommand is the option of server.sh behind which words are those of a server
// that is none of the lab's, with options of its own.
const anyCommand = " --command -- "

// inside begins a wire's lines: the script that enters its namespace.
var inside = regexp.MustCompile(`^lab/scripts/wire\.sh in (server|client) PID -- `)

// options are those of the scripts whose values are settings of the condition.
var options = map[string]string{
	"--connections": setting.Connections, "--pipelining": setting.Pipelining, "--rate": setting.Rate,
	"--generator": setting.Generator,
	"--likes":     setting.Likes, "--writers": setting.Writers,
	"--index": setting.Index, "--stack": setting.Stack, "--variant": setting.Variant,
}

// wire has the addresses of the wire between two namespaces.
var wire = netip.MustParsePrefix("192.0.2.0/24")

// checkCommands compares the command lines of a measured run with what the lab
// would have typed for each condition.
func (f *file) checkCommands() error {
	for i, c := range f.Conditions {
		at := fmt.Sprintf("/conditions/%d/commands", i)
		used := map[string]bool{}
		for k, line := range c.Commands {
			at := fmt.Sprintf("%s/%d", at, k)
			line, _, _ = strings.Cut(inside.ReplaceAllString(line, ""), anyCommand)
			words := strings.Fields(line)
			used[words[0]] = true
			if err := f.follow(at, words, f.Settings.With(c.Levels)); err != nil {
				return err
			}
		}
		if !used["lab/scripts/server.sh"] || !used["lab/scripts/trial.sh"] && !used["lab/scripts/sink.sh"] &&
			!used["lab/scripts/readers.sh"] {
			return fmt.Errorf("%s: a condition takes server.sh, and trial.sh, sink.sh or readers.sh", at)
		}
	}
	return nil
}

// follow compares a line's options with a condition's settings. A setting that
// the condition does not have is the script's own.
func (f *file) follow(at string, words []string, s setting.Levels) error {
	for i, option := range words[:len(words)-1] {
		value := words[i+1]
		if want, ok := s[options[option]]; ok && value != want.String() {
			return fmt.Errorf("%s: %s %s, but the condition has %s", at, option, value, want)
		}
		if option == "--url" || option == "--producer" {
			if err := f.near(value, s); err != nil {
				return fmt.Errorf("%s: %s %s: %w", at, option, value, err)
			}
		}
	}
	return nil
}

// near refuses an address that is not the lab's own server, and another route
// than the condition's.
func (f *file) near(address string, s setting.Levels) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.User != nil {
		return fmt.Errorf("no address of a server")
	}
	host, err := netip.ParseAddr(u.Hostname())
	if err != nil || !host.IsLoopback() && !host.IsPrivate() && !wire.Contains(host) {
		return fmt.Errorf("not a server of the lab's")
	}
	if route, ok := s[setting.Route]; ok && u.Path != route.String() && u.Path != "" {
		return fmt.Errorf("the condition requests %s", route)
	}
	return nil
}

// checkPrograms refuses a run that leaves out a program that it needed. What the
// lab was built from is compared with the run's commit by these programs, and a
// program left out would escape that.
func (f *file) checkPrograms() error {
	if len(f.Trials) == 0 {
		return nil
	}
	for _, name := range results.Programs(f.design) {
		if _, there := f.Provenance.Binaries[name]; !there {
			return fmt.Errorf("/provenance/binaries: %q is missing, without which %s cannot be measured; keep what the run "+
				"recorded", name, f.design.Name)
		}
	}
	return nil
}
