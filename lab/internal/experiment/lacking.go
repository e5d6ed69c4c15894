package experiment

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Under is a path as a server finds it, which starts in the root.
func Under(root, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}

// withLab is the make target that builds the lab itself, without which nothing
// runs: what it builds is never missing for good.
const withLab = "build"

// A Lack is a server that cannot be started on this machine.
type Lack struct {
	Server string
	What   string // what is not there
	Mend   string // what to do about it; empty if it is to be installed
}

// Why says in one line why the server is not applicable here.
func (l Lack) Why() string {
	if l.Mend == "" {
		return fmt.Sprintf("the %s server needs %s, which is not installed", l.Server, l.What)
	}
	return fmt.Sprintf("the %s server is not built (%s is not there); %s builds it", l.Server, l.What, l.Mend)
}

// Lacking lists the servers of the design that lack a tool or a program here.
// The tools of a server that is built are for building it.
func (x *Experiment) Lacking(root string) (all []Lack) {
	for _, s := range x.Loaded() {
		if s.Build == withLab {
			continue
		}
		// What is started may be a wrapper that make builds around the program.
		words, _ := s.Line(Place{Host: "-", Port: "-", Workers: "-"}, nil)
		absent := slices.DeleteFunc([]string{s.Program, words[0]}, func(path string) bool {
			_, err := os.Stat(Under(root, path))
			return err == nil || !strings.Contains(path, "/")
		})
		if s.Build != "" && len(absent) == 0 {
			continue
		}
		lacks := slices.DeleteFunc(slices.Clone(s.Needs),
			func(tool string) bool { _, err := exec.LookPath(tool); return err == nil })
		switch {
		case len(lacks) > 0:
			all = append(all, Lack{s.Name, strings.Join(lacks, ", "), ""})
		case s.Build != "":
			all = append(all, Lack{s.Name, absent[0], "make " + s.Build})
		}
	}
	return all
}

// Present is the design without the servers that this machine lacks, and those that it
// leaves out by that. Where servers are not what is compared, or fewer than two of them
// are there, nothing is left out: the whole design is then not applicable.
func (x *Experiment) Present(root string) (less *Experiment, left []Lack) {
	if !slices.ContainsFunc(x.Factors, func(f Factor) bool { return f.Name == setting.Server }) {
		return x, nil
	}
	less, left = x, x.Lacking(root)
	for _, l := range left {
		less = less.Without(setting.Levels{setting.Server: setting.String(l.Server)})
	}
	if len(less.Conditions()) < 2 || len(less.Loaded()) < 2 {
		return x, nil
	}
	return less, left
}
