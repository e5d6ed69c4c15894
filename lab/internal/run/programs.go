package run

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// programsOf names a server's program; and of one that is found in PATH, as an
// interpreter is, also the first file that its command names.
func programsOf(root string, s *experiment.Server) []string {
	names := []string{s.Program}
	if strings.Contains(s.Program, "/") {
		return names
	}
	words, _ := s.Line(experiment.Place{Host: "-", Port: "-", Workers: "-"}, nil)
	for _, word := range words[1:] {
		if !strings.Contains(word, "/") && !strings.Contains(word, ".") {
			continue
		}
		if info, err := os.Stat(under(root, word)); err == nil && info.Mode().IsRegular() {
			return append(names, word)
		}
	}
	return names
}

// under is a path as a server finds it, which starts in the root.
func under(root, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(root, path)
}

// withLab is the make target that builds the lab itself, without which nothing
// runs: what it builds is never missing for good.
const withLab = "build"

// An Absent is a server that cannot be started on this machine.
type Absent struct {
	Server string
	Lacks  string // what is not there
	Mend   string // what to do about it; empty if it is to be installed
}

// Why says in one line why the server is not applicable here.
func (a Absent) Why() string {
	if a.Mend == "" {
		return fmt.Sprintf("the %s server needs %s, which is not installed", a.Server, a.Lacks)
	}
	return fmt.Sprintf("the %s server is not built (%s is not there); %s builds it", a.Server, a.Lacks, a.Mend)
}

// Missing lists the servers of an experiment that lack a tool or a program here.
// The tools of a server that is built are for building it.
func Missing(root string, x *experiment.Experiment) (all []Absent) {
	for _, s := range x.Loaded() {
		if s.Build == withLab {
			continue
		}
		// What is started may be a wrapper that make builds around the program.
		words, _ := s.Line(experiment.Place{Host: "-", Port: "-", Workers: "-"}, nil)
		absent := slices.DeleteFunc([]string{s.Program, words[0]}, func(path string) bool {
			_, err := os.Stat(under(root, path))
			return err == nil || !strings.Contains(path, "/")
		})
		if s.Build != "" && len(absent) == 0 {
			continue
		}
		lacks := slices.DeleteFunc(slices.Clone(s.Needs), func(tool string) bool { _, err := exec.LookPath(tool); return err == nil })
		switch {
		case len(lacks) > 0:
			all = append(all, Absent{s.Name, strings.Join(lacks, ", "), ""})
		case s.Build != "":
			all = append(all, Absent{s.Name, absent[0], "make " + s.Build})
		}
	}
	return all
}

// find looks up the programs that the experiment starts, and refuses programs
// that were not built from the sources beside them.
func (p Plan) find() (*host.Programs, error) {
	lab, names := "", []string{}
	if len(p.Lab) > 0 {
		lab, names = p.Lab[0], []string{"lab"}
	}
	for _, levels := range p.Experiment.Conditions() {
		s := p.Experiment.Fixed().With(levels)
		names = append(append(names, programsOf(string(p.Root), p.Experiment.Server(s))...), results.Clients[generatorOf(s)]...)
	}
	slices.Sort(names)
	return host.FindPrograms(string(p.Root), lab, slices.Compact(names))
}

// generators names an experiment's load generators, with versions.
func generators(x *experiment.Experiment, tools map[string]string) string {
	var names []string
	for _, levels := range x.Conditions() {
		if name := versioned(generatorOf(x.Fixed().With(levels)), tools); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// versioned is a load generator's name, with its version if known.
func versioned(name string, tools map[string]string) string {
	return strings.TrimSpace(name + " " + tools[name])
}
