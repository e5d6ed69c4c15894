package tune

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// service stops a service of systemd, the first of its names that there is.
type service struct{ units []string }

func (k *service) flags(*flag.FlagSet)      {}
func (k *service) take(rest []string) error { return noMore(rest) }
func (k *service) ready(*machine) error     { return nil }

const (
	active   = "active"
	inactive = "inactive"
)

func (k *service) plan(*machine, bool) ([]change, error) {
	for _, unit := range k.units {
		out, err := systemctl("show", "--property=LoadState", "--value", unit)
		if err != nil {
			return nil, err
		}
		if out == "loaded" {
			t := target{Kind: kindUnit, Scope: scopeMachine, Path: unitName(unit), Unit: unit}
			return []change{{target: t, want: inactive}}, nil
		}
	}
	return nil, unavailable("systemd has no service %s here", strings.Join(k.units, " or "))
}

// knownUnit tells whether a unit is one that a knob stops.
func knownUnit(unit string) bool {
	return slices.Contains([]string{"irqbalance", "crond", "cron"}, unit)
}

func unitName(unit string) string { return "systemctl:" + unit + ".service" }

// unitState tells whether a unit runs. One that has failed does not.
func unitState(unit string) (string, error) {
	out, err := systemctl("is-active", unit)
	switch out {
	case "active", "activating", "reloading":
		return active, nil
	case "inactive", "failed", "deactivating", "unknown":
		return inactive, nil
	}
	if err == nil {
		err = fmt.Errorf("systemctl is-active %s: it says %q", unit, out)
	}
	return "", err
}

func setUnit(unit, state string) error {
	verb := map[string]string{active: "start", inactive: "stop"}[state]
	if verb == "" {
		return fmt.Errorf("%s: %q is no state to bring it to", unitName(unit), state)
	}
	_, err := systemctl(verb, unit)
	return err
}

// systemctl runs it and returns what it says on one line.
func systemctl(args ...string) (string, error) {
	path, err := exec.LookPath("systemctl")
	if err != nil {
		return "", unavailable("there is no systemctl here to ask for services")
	}
	var out, complaint bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err = cmd.Run()
	said := strings.TrimSpace(out.String())
	var status *exec.ExitError
	if errors.As(err, &status) {
		why, _, _ := strings.Cut(strings.TrimSpace(complaint.String()), "\n")
		if why == "" {
			why = err.Error()
		}
		err = unavailable("systemctl %s: %s", strings.Join(args, " "), why)
	}
	return said, err
}
