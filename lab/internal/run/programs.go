package run

import (
	"os"
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
		if info, err := os.Stat(experiment.Under(root, word)); err == nil && info.Mode().IsRegular() {
			return append(names, word)
		}
	}
	return names
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
		names = append(append(names, programsOf(string(p.Root), p.Experiment.Server(s))...),
			results.Clients[experiment.Generator(s)]...)
	}
	slices.Sort(names)
	return host.FindPrograms(string(p.Root), lab, slices.Compact(names))
}
