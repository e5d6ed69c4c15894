package host

import (
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
// Every user can read it. The id of the board cannot be used for a name: only root
// may read it, and a machine would have one name with sudo and another without.
// Hardware addresses are too short to be hidden by a hash.
func ownID(root string) (id []byte, why string) {
	for _, path := range []string{"/etc/machine-id", "/var/lib/dbus/machine-id"} {
		text := Line(root, path)
		if text == "" {
			continue
		}
		if !random.MatchString(text) || strings.Trim(text, "0") == "" {
			return nil, path + " has no id in it"
		}
		point, kind := holder(root, path)
		switch {
		case kind == "tmpfs" || kind == "ramfs":
			return nil, path + " is made anew at each start"
		case point == "/" && (strings.Contains(kind, "overlay") || container(root)):
			return nil, path + " is of the container's image, and all containers of the image have the same"
		}
		return []byte(text), ""
	}
	return nil, "it has no /etc/machine-id"
}

// mark is a keyed hash of what tells this machine apart from all others for good, or
// why there is nothing, given the system's own id.
//
// On bare metal that is the system's id, which was drawn when it was installed there.
// In a guest it may have come with an image, of which any number of guests were made.
// There only the id counts that the hypervisor gives each guest, which root may read
// where the hypervisor shows it. Only x86 says whether it is a guest.
func (p Profile) mark(root string, own []byte) (mark, why string) {
	if p.Virtual == "" && (p.Arch == "amd64" || p.Arch == "386") {
		return keyed(own, "mark")[:16], ""
	}
	id := Line(root, "sys", "class", "dmi", "id", "product_uuid")
	digits := strings.ToLower(strings.ReplaceAll(id, "-", ""))
	if !random.MatchString(digits) || strings.Count(digits, digits[:1]) == len(digits) {
		return "", "it may be one of many guests of an image with this machine-id, and what its hypervisor calls it " +
			"cannot be read (root may, where there is /sys/class/dmi/id/product_uuid)"
	}
	return keyed([]byte(strings.ToLower(id)), "mark")[:16], ""
}

// Mark is the mark of the machine that the lab runs on, as far as this user can read
// what it is made from; empty without one.
func Mark(root string) string {
	m, err := Probe(root)
	if err != nil {
		return ""
	}
	return m.Mark
}

// bootID has an id that the kernel draws at each start of the machine. All containers
// that run on it have the same.
const bootID = "proc/sys/kernel/random/boot_id"

// Boot tells one start of the machine from another by a keyed hash of the id that the
// kernel draws then; empty where there is none. A run records it, since nothing is
// surely one machine for longer unless it has a mark.
func Boot(root string) string {
	id := Line(root, bootID)
	if id == "" {
		return ""
	}
	return keyed([]byte(id), "boot")[:16]
}

var random = regexp.MustCompile(`^[0-9a-f]{32}$`)

// container tells whether Docker or Podman made the root directory. Others make
// it an overlay.
func container(root string) bool {
	return slices.ContainsFunc([]string{".dockerenv", "run/.containerenv"}, func(mark string) bool {
		_, err := os.Lstat(filepath.Join(root, mark))
		return err == nil
	})
}

// holder is the mount that a path lies in, by its point and its file system. A machine's own id may be mounted
// into a container.
func holder(root, path string) (point, kind string) {
	point = "/"
	text, _ := os.ReadFile(filepath.Join(root, "proc", "self", "mountinfo"))
	for _, l := range strings.Split(string(text), "\n") {
		about, system, ok := strings.Cut(l, " - ")
		f := strings.Fields(about)
		if !ok || len(f) < 5 {
			continue
		}
		// A later mount hides an earlier one of the same point.
		if p := f[4]; len(p) >= len(point) && (p == "/" || path == p || strings.HasPrefix(path, p+"/")) {
			point = p
			kind, _, _ = strings.Cut(system, " ")
		}
	}
	return point, kind
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
