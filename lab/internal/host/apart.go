package host

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// ownID gives the random id that the system was given when it was installed,
// or says why there is none that is this machine's own.
//
// Every user can read it. The id of the board cannot be used: only root may read
// it, and a machine would have one name with sudo and another without. Hardware
// addresses are too short to be hidden by a hash.
func ownID(root string) (id []byte, why string) {
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		text := line(root, path)
		if text == "" {
			continue
		}
		if !random.MatchString(text) || strings.Trim(text, "0") == "" {
			return nil, path + " has no id in it"
		}
		at := holder(root, path)
		switch {
		case slices.Contains([]string{"tmpfs", "ramfs"}, at.kind):
			return nil, path + " is made anew at each start"
		case at.point == "/" && (strings.Contains(at.kind, "overlay") || container(root)):
			return nil, path + " is of the container's image, and all containers of the image have the same"
		}
		return []byte(text), ""
	}
	return nil, "it has no /etc/machine-id"
}

var random = regexp.MustCompile(`^[0-9a-f]{32}$`)

// container tells whether Docker or Podman made the root directory. Others make
// it an overlay.
func container(root string) bool {
	for _, mark := range []string{".dockerenv", "run/.containerenv"} {
		if _, err := os.Lstat(filepath.Join(root, mark)); err == nil {
			return true
		}
	}
	return false
}

type mount struct{ point, kind string }

// holder is the mount that a path lies in. A machine's own id may be mounted
// into a container.
func holder(root, path string) mount {
	at := mount{point: "/"}
	text, _ := os.ReadFile(filepath.Join(root, "proc", "self", "mountinfo"))
	for _, l := range strings.Split(string(text), "\n") {
		about, kind, ok := strings.Cut(l, " - ")
		f := strings.Fields(about)
		if !ok || len(f) < 5 {
			continue
		}
		// A later mount hides an earlier one of the same point.
		if p := f[4]; len(p) >= len(at.point) && (p == "/" || path == p || strings.HasPrefix(path, p+"/")) {
			at = mount{p, strings.SplitN(kind, " ", 2)[0]}
		}
	}
	return at
}

// boot is an id that is drawn at each start of the machine. All containers that
// run on it have the same.
func boot(root string) []byte {
	if id := line(root, "proc", "sys", "kernel", "random", "boot_id"); id != "" {
		return []byte(id)
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	return id
}

// LocalName reads the name that a clone has for the machine: the first line of
// the file that is no comment. It is empty if there is no such file.
func LocalName(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, l := range strings.Split(string(text), "\n") {
		if l = strings.TrimSpace(l); l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		if !named.MatchString(l) {
			return "", fmt.Errorf("%q cannot name a host; use small letters, digits and hyphens", l)
		}
		return l, nil
	}
	return "", errors.New("it has no name in it; write one, or remove the file")
}

var named = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,99}$`)

// Local is the text of such a file with a drawn name.
func (m *Machine) Local() []byte {
	return fmt.Appendf(nil, `# The name of this machine in data/hosts. It was drawn, because %s.
# Measure from other clones on this machine under the same name. No other machine may
# have it: take this file along to none.
%s
`, m.Alone, m.ID)
}
