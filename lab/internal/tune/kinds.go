package tune

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/line-rate/line-rate/lab/internal/cores"
)

// A kind says how a value is read and set.
type kind string

const (
	kindFile kind = "file" // a file of /proc or /sys
	kindUnit kind = "unit" // a service of systemd
)

// read reads a target's value verbatim.
func (m *machine) read(t target) (string, error) {
	if t.Kind == kindUnit {
		return readUnit(t)
	}
	b, err := os.ReadFile(m.real(t.Path))
	if err == nil && (!utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0) {
		err = fmt.Errorf("%s holds no text, which could not be brought back", t.Path)
	}
	return string(b), err
}

func (m *machine) write(t target, value string) error {
	if t.Kind == kindUnit {
		return writeUnit(t, value)
	}
	f, err := os.OpenFile(m.real(t.Path), os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	// The kernel takes a value in a single write only.
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// writable tells beforehand whether this process may write a target. It is not
// called on a made-up tree.
func (t target) writable() error {
	switch {
	case t.Kind == kindUnit && os.Geteuid() != 0, strings.Contains(t.Path, "/queues/") && !realRoot(capNetAdmin):
		return needsRoot(t.Path)
	case t.Kind == kindUnit:
		return nil
	}
	return access(t.Path)
}

const active, inactive = "active", "inactive"

func unitName(unit string) string { return "systemctl:" + unit + ".service" }

// readUnit tells whether a unit runs. A failed unit does not run.
func readUnit(t target) (string, error) {
	out, err := systemctl("is-active", t.Unit)
	switch out {
	case "active", "activating", "reloading":
		return active, nil
	case "inactive", "failed", "deactivating", "unknown":
		return inactive, nil
	}
	if err == nil {
		err = fmt.Errorf("systemctl is-active %s: it says %q", t.Unit, out)
	}
	return "", err
}

func writeUnit(t target, state string) error {
	verb := map[string]string{active: "start", inactive: "stop"}[state]
	if verb == "" {
		return fmt.Errorf("%s: %q is no state to bring it to", t.Path, state)
	}
	_, err := systemctl(verb, t.Unit)
	return err
}

// systemctl runs the command and returns its output on one line.
func systemctl(args ...string) (string, error) {
	path, err := exec.LookPath("systemctl")
	if err != nil {
		return "", unavailable("there is no systemctl here to ask for services")
	}
	out, err := exec.Command(path, args...).Output()
	var status *exec.ExitError
	if errors.As(err, &status) {
		why, _, _ := strings.Cut(strings.TrimSpace(string(status.Stderr)), "\n")
		err = unavailable("systemctl %s: %s", strings.Join(args, " "), cmp.Or(why, err.Error()))
	}
	return strings.TrimSpace(string(out)), err
}

func sameWords(a, b string) bool { return slices.Equal(strings.Fields(a), strings.Fields(b)) }

// sameMask compares two masks of the kernel's, of which one may lack leading groups.
func sameMask(a, b string) bool {
	number := func(mask string) string {
		return strings.TrimLeft(strings.ReplaceAll(strings.TrimSpace(mask), ",", ""), "0")
	}
	return strings.EqualFold(number(a), number(b))
}

func sameList(a, b string) bool {
	x, errX := cores.Parse(strings.TrimSpace(a))
	y, errY := cores.Parse(strings.TrimSpace(b))
	slices.Sort(x)
	slices.Sort(y)
	return errX == nil && errY == nil && slices.Equal(x, y)
}

func plain(value string) string { return strings.Join(strings.Fields(value), " ") }
