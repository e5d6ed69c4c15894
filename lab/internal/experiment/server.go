package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/line-rate/line-rate/lab"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Server is a program that experiments load: a table [servers.NAME] of lab/servers.toml, which says what its keys
// mean, or of an experiment's file. What decides the cost of a request comes first, as the digest of a design has it.
type Server struct {
	Command string            `toml:"command" json:"command"`
	Env     map[string]string `toml:"env" json:"env,omitempty"`
	Build   string            `toml:"build" json:"build,omitempty"`
	Prefork bool              `toml:"prefork" json:"prefork,omitempty"`
	Process string            `toml:"process" json:"process,omitempty"`
	Answers string            `toml:"answers" json:"answers,omitempty"`
	Name    string            `toml:"-" json:"-"` // the table's
	Title   string            `toml:"title" json:"-"`
	About   string            `toml:"about" json:"-"`
	Ready   string            `toml:"ready" json:"-"`
	Program string            `toml:"program" json:"-"`
	Needs   []string          `toml:"needs" json:"-"`
	Events  bool              `toml:"events" json:"-"`
	Streams bool              `toml:"streams" json:"-"`

	words, env []string // of the command, and NAME=VALUE, sorted, with what is to be filled in
}

// A Place is where a server has to listen, and what it may use. An empty text means that there is nothing to fill in.
type Place struct{ Host, Port, Workers, CPUs, Sockets string }

func (p Place) named() map[string]string {
	return map[string]string{"addr": p.Host + ":" + p.Port, "host": p.Host, "port": p.Port, "workers": p.Workers,
		"cpus": p.CPUs, "sockets": p.Sockets}
}

// shared are the servers of lab/servers.toml, by name. Tests parse that file, so a program that holds a faulty one was
// built without them.
var shared = sync.OnceValue(func() map[string]*Server {
	var file struct {
		Servers map[string]*Server `toml:"servers"`
	}
	err := strict.DecodeTOML(lab.Servers, &file)
	if err = cmp.Or(err, resolveServers(file.Servers)); err != nil {
		panic(fmt.Sprintf("lab/servers.toml, %v; mend it, and run make build", err))
	}
	return file.Servers
})

func resolveServers(all map[string]*Server) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := all[name].resolve(name); err != nil {
			return fmt.Errorf("servers.%s: %w", name, err)
		}
	}
	return nil
}

var placeholder = regexp.MustCompile(`\{[a-z_]+\}`)

// resolve checks a server, splits its command into words, and writes it on one line.
func (s *Server) resolve(id string) (err error) {
	s.Name, s.Title = id, cmp.Or(s.Title, id)
	s.words, err = strict.Words(s.Command)
	switch {
	case !name.MatchString(id) || len(id) > 40: // which leaves room for a level in names of conditions
		return errors.New("a server's name is lower-case words joined by hyphens, of at most 40 characters")
	case err != nil:
		return fmt.Errorf("command %w", err)
	case len(s.words) == 0 || placeholder.MatchString(s.words[0]):
		return errors.New("command: say how the server is started; the first word is the program, with nothing to fill in")
	case s.Events && s.Streams:
		return errors.New("events and streams: a server sends batches to a receiver or streams to readers, and not both")
	case !s.Routed() && (s.Answers != "" || s.Prefork):
		return errors.New("events, streams: a server that sends events answers none of the routes, and has no prefork")
	case (!s.Routed() || s.Prefork) && s.Ready == "":
		return errors.New("events, streams, prefork: say in ready = \"...\" what it, or each worker, prints when it listens")
	}
	s.Program = cmp.Or(s.Program, s.words[0])
	lines := strict.Map(strings.Split(s.Command, "\n"), strings.TrimSpace)
	s.Command = strings.Join(slices.DeleteFunc(lines, func(l string) bool { return l == "" }), " ")
	faults := []error{line("title", s.Title), line("about", s.About), line("ready", s.Ready), line("process", s.Process),
		among("answers", s.Answers, []string{setting.Fiber, setting.Null})}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		s.env, faults = append(s.env, name+"="+s.Env[name]), append(faults, line("env."+name, s.Env[name]))
	}
	known := slices.Concat(setting.Names(), slices.Collect(maps.Keys(Place{}.named())))
	known = slices.Compact(slices.Sorted(slices.Values(known)))
	for _, p := range placeholder.FindAllString(s.filled(), -1) {
		faults = append(faults, among("command:", strings.Trim(p, "{}"), known))
	}
	return cmp.Or(faults...)
}

// filled is everything in which something is filled in, and takes tells whether a setting is.
func (s *Server) filled() string { return strings.Join(slices.Concat(s.words, s.env), " ") }

func (s *Server) takes(name string) bool { return strings.Contains(s.filled(), "{"+name+"}") }

// Line gives the words and the environment with which the server is started under these settings, at a place. A word
// without a value falls away, and so does an option whose value it would be.
func (s *Server) Line(at Place, levels setting.Levels) (words, env []string) {
	values := at.named()
	for name, l := range levels {
		if _, placed := values[name]; !placed {
			values[name] = l.String()
		}
	}
	fill := func(word string) (filled string, ok bool) {
		ok = true
		filled = placeholder.ReplaceAllStringFunc(word, func(p string) string {
			v := values[strings.Trim(p, "{}")]
			ok = ok && v != ""
			return v
		})
		return filled, ok
	}
	for i, word := range s.words {
		filled, ok := fill(word)
		switch {
		case ok:
			words = append(words, filled)
		case i > 0 && placeholder.FindString(word) == word && strings.HasPrefix(s.words[i-1], "-") &&
			len(words) > 0 && words[len(words)-1] == s.words[i-1]:
			words = words[:len(words)-1]
		}
	}
	for _, one := range s.env {
		if filled, ok := fill(one); ok {
			env = append(env, filled)
		}
	}
	return words, env
}

// ReadyLine is the text of the line that says that it listens at a place.
func (s *Server) ReadyLine(at Place) string {
	return strings.NewReplacer("{addr}", at.Host+":"+at.Port, "{host}", at.Host, "{port}", at.Port).Replace(s.Ready)
}

// Routed tells whether the lab requests a route: else the server sends events.
func (s *Server) Routed() bool { return !s.Events && !s.Streams }

func (s *Server) load() string {
	return map[bool]string{true: "requests", s.Events: "events", s.Streams: "streams"}[true]
}

// Workers is how many processes it starts, beside a master, under these settings; 0 if its processes are its own
// affair. otherwise is the number where none is set.
func (s *Server) Workers(levels setting.Levels, otherwise int) int {
	if prefork, ok := levels[setting.Prefork].Bool(); !s.Prefork || ok && !prefork {
		return 0
	}
	return levels.Whole(setting.Workers, otherwise)
}

// Server gives the server of a condition with all its levels.
func (x *Experiment) Server(levels setting.Levels) *Server {
	s, err := x.server(levels)
	if err != nil {
		panic(err) // the check refused it
	}
	return s
}

func (x *Experiment) server(levels setting.Levels) (*Server, error) {
	name := setting.Fiber
	if l, ok := levels[setting.Server]; ok {
		name = l.String()
	}
	all := maps.Clone(shared())
	maps.Copy(all, x.Servers)
	if s := all[name]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("no server %q; %s", name, strict.Instead(name, slices.Sorted(maps.Keys(all))))
}

// Loaded gives the servers of all conditions, each once, in the order of the conditions.
func (x *Experiment) Loaded() (all []*Server) {
	for _, levels := range x.Whole() {
		if s := x.Server(levels); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// Lacking says which servers of the design lack a tool or a program here, each in a line. The tools of a server that
// is built are for building it. What make build builds, the lab itself among it, is never missing for good.
func (x *Experiment) Lacking(root string) (why []string) {
	for _, s := range x.Loaded() {
		// The command may be a wrapper that make builds around the program.
		absent, missing := strict.Find([]string{s.Program, s.words[0]}, func(path string) bool {
			at := path
			if !filepath.IsAbs(path) {
				at = filepath.Join(root, path)
			}
			_, err := os.Stat(at)
			return err != nil && strings.Contains(path, "/")
		})
		tools := strict.Filter(s.Needs, func(tool string) bool { _, err := exec.LookPath(tool); return err != nil })
		switch {
		case s.Build == "build", s.Build != "" && !missing:
		case len(tools) > 0:
			why = append(why, fmt.Sprintf("the %s server needs %s, which is not installed", s.Name, strings.Join(tools, ", ")))
		case s.Build != "":
			why = append(why, fmt.Sprintf("the %s server is not built (%s is not there); make %s builds it", s.Name, absent,
				s.Build))
		}
	}
	return why
}
