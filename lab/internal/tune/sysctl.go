package tune

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// sysctls sets values below /proc/sys.
type sysctls struct{ settings [][2]string }

// entry02 is what the second entry sets.
var entry02 = [][2]string{
	{"net.core.somaxconn", "65535"},
	{"net.core.netdev_max_backlog", "65535"},
	{"net.ipv4.tcp_max_syn_backlog", "65535"},
	{"net.ipv4.ip_local_port_range", "1024 65535"},
	{"net.ipv4.tcp_tw_reuse", "1"},
	{"net.ipv4.tcp_fin_timeout", "15"},
}

func (k *sysctls) flags(*flag.FlagSet)  {}
func (k *sysctls) ready(*machine) error { return nil }

var (
	// A name's parts cannot be empty, so none can lead out of /proc/sys.
	sysctlName  = regexp.MustCompile(`^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+$`)
	sysctlValue = regexp.MustCompile(`^[!-~]+([ \t]+[!-~]+)*$`)
)

func (k *sysctls) take(rest []string) error {
	for _, arg := range rest {
		name, value, ok := strings.Cut(arg, "=")
		switch {
		case !ok:
			return fmt.Errorf("%q is neither NAME=VALUE nor one of %s", arg, strings.Join(actions[:6], ", "))
		case !sysctlName.MatchString(name):
			return fmt.Errorf("%q is no name of a sysctl: letters, digits, - and _, in parts divided by dots", name)
		case !sysctlValue.MatchString(value):
			return fmt.Errorf("%s: %q is no value of a sysctl: words on one line", name, value)
		case slices.ContainsFunc(k.settings, func(s [2]string) bool { return s[0] == name }):
			return fmt.Errorf("%s stands twice", name)
		}
		k.settings = append(k.settings, [2]string{name, value})
	}
	return nil
}

func (k *sysctls) plan(m *machine, _ bool) ([]change, error) {
	settings := k.settings
	if len(settings) == 0 {
		settings = entry02
	}
	var changes []change
	for _, s := range settings {
		t := sysctlTarget(sysctlDir + strings.ReplaceAll(s[0], ".", "/"))
		if !m.exists(t.Path) {
			if !m.net.Initial && t.Scope == scopeNamespace {
				return nil, unavailable("%s is only in the initial network namespace; name those that are to be set here, NAME=VALUE", s[0])
			}
			return nil, unavailable("this kernel has no sysctl %s (%s)", s[0], t.Path)
		}
		changes = append(changes, change{target: t, want: s[1] + "\n"})
	}
	return changes, nil
}

// sysctlTarget is a file below /proc/sys. What is under net is shown as the
// reader's network namespace has it.
func sysctlTarget(path string) target {
	t := target{Kind: kindFile, Scope: scopeMachine, Path: path}
	if strings.HasPrefix(path, sysctlDir+"net/") {
		t.Scope = scopeNamespace
	}
	return t
}
