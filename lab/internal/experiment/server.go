package experiment

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/line-rate/line-rate/lab"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Server is a program that experiments load: a table [servers.NAME] of
// lab/servers.toml, which says what its keys mean, or of an experiment's file.
type Server struct {
	Name     string            `toml:"-"` // the table's
	Title    string            `toml:"title"`
	About    string            `toml:"about"`
	Command  string            `toml:"command"`
	Env      map[string]string `toml:"env"`
	Ready    string            `toml:"ready"`
	Process  string            `toml:"process"`
	Program  string            `toml:"program"`
	Build    string            `toml:"build"`
	Needs    []string          `toml:"needs"`
	Prefork  bool              `toml:"prefork"`
	Events   bool              `toml:"events"`
	Streams  bool              `toml:"streams"`
	Answers  string            `toml:"answers"`
	template command
}

// servers are those of lab/servers.toml, by name.
var servers = sync.OnceValues(func() (map[string]*Server, error) { return ParseServers(lab.Servers) })

// Faulty is what is wrong with the lab/servers.toml that this program holds. make build
// refuses such a file; a program that was built otherwise asks here before it needs one.
func Faulty() error {
	if _, err := servers(); err != nil {
		return fmt.Errorf("lab/servers.toml, %w; mend it, and run make build", err)
	}
	return nil
}

func shared() map[string]*Server {
	all, err := servers()
	if err != nil {
		panic(Faulty())
	}
	return all
}

// Shared gives the servers that every experiment can name, sorted by name.
func Shared() []*Server {
	all := shared()
	return strict.Map(slices.Sorted(maps.Keys(all)), func(name string) *Server { return all[name] })
}

// ParseServers parses a file that holds nothing but tables [servers.NAME]. It names the
// line of a fault, or that of the table that has it.
func ParseServers(data []byte) (map[string]*Server, error) {
	var file struct {
		Servers map[string]*Server `toml:"servers"`
	}
	if err := strict.DecodeTOML(data, &file); err != nil {
		return nil, err
	}
	for n, line := range strings.Split(string(data), "\n") {
		id, _, _ := strings.Cut(strings.TrimPrefix(line, "[servers."), "]")
		if s := file.Servers[id]; s != nil && id != line {
			if err := s.resolve(id); err != nil {
				return nil, fmt.Errorf("line %d: servers.%s: %w", n+1, id, err)
			}
		}
	}
	if file.Servers[setting.DefaultServer] == nil {
		return nil, fmt.Errorf("line 1: there is no table [servers.%s], the server of experiments that name none",
			setting.DefaultServer)
	}
	return file.Servers, resolveServers(file.Servers) // those that the file writes otherwise
}

// NewServer checks a server that no file describes, as one given on a command
// line, and prepares it for a run.
func NewServer(name string, s Server) (*Server, error) {
	if err := s.resolve(name); err != nil {
		return nil, fmt.Errorf("servers.%s: %w", name, err)
	}
	return &s, nil
}

func resolveServers(all map[string]*Server) error {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := all[name].resolve(name); err != nil {
			return fmt.Errorf("servers.%s: %w", name, err)
		}
	}
	return nil
}

var (
	target = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	file   = regexp.MustCompile(`^[A-Za-z0-9_./+-]+$`)
)

// longestName leaves room for a level in names of conditions.
const longestName = 40

func (s *Server) resolve(id string) (err error) {
	if !name.MatchString(id) || len(id) > longestName {
		return fmt.Errorf("a server's name is lower-case words joined by hyphens, of at most %d characters", longestName)
	}
	s.Name = id
	if s.Title == "" {
		s.Title = id
	}
	for _, text := range []struct{ field, v string }{{"title", s.Title}, {"about", s.About}, {"ready", s.Ready},
		{"process", s.Process}} {
		if err := strict.CheckLine(text.v); err != nil {
			return fmt.Errorf("%s %w", text.field, err)
		}
	}
	if s.template, err = parseCommand(s.Command, s.Env); err != nil {
		return err
	}
	s.Command = oneLine(s.Command)
	if s.Program == "" {
		s.Program = s.template.words[0]
	}
	switch {
	case !file.MatchString(s.Program):
		return fmt.Errorf("program %q is no plain path; say in program = \"...\" which file is run", s.Program)
	case s.Build != "" && !target.MatchString(s.Build):
		return fmt.Errorf("build %q is no make target", s.Build)
	case slices.ContainsFunc(s.Needs, func(tool string) bool { return !file.MatchString(tool) }):
		return fmt.Errorf("needs %q: name each tool as a shell finds it", s.Needs)
	case s.Answers != "" && !slices.ContainsFunc(answering, func(w strict.Word) bool { return w.Name == s.Answers }):
		return fmt.Errorf("answers %q: %s; leave it out for a server with answers of its own", s.Answers,
			strict.InsteadOf(s.Answers, answering))
	case s.Events && s.Streams:
		return errors.New("events and streams: a server sends batches to a receiver or streams to readers, and not both")
	case !s.Routed() && (s.Answers != "" || s.Prefork):
		return errors.New("events, streams: a server that sends events answers none of the routes, and has no prefork")
	case !s.Routed() && s.Ready == "":
		return errors.New("events, streams: say in ready = \"...\" which line it prints when it listens; it has no route to " +
			"answer")
	case s.Prefork && s.Ready == "":
		return errors.New("prefork: say in ready = \"...\" which line each worker prints when it listens")
	}
	return nil
}

// oneLine joins the lines of a command, which can break between words only.
func oneLine(command string) string {
	var lines []string
	for line := range strings.Lines(command) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " ")
}

// answering has the servers whose answers the lab knows.
var answering = []strict.Word{
	{Name: setting.Fiber, Meaning: "Each route's bytes, as package catalog has them."},
	{Name: setting.Null, Meaning: "One body a route: the middle one of those that Fiber draws."},
}

// ServerKeys says what the keys of a table [servers.NAME] mean.
func ServerKeys() map[string]string { return kinds.Server }

// Routed tells whether the lab requests a route of it: else it sends events.
func (s *Server) Routed() bool { return !s.Events && !s.Streams }

// Profiled tells whether its processes serve profiles.
func (s *Server) Profiled() bool { return s.template.has("sockets") }

// Workers is how many processes it starts, beside a master, under these
// settings; 0 if its processes are its own affair. otherwise is the number
// where none is set.
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
		panic(err) // the experiment was checked
	}
	return s
}

func (x *Experiment) server(levels setting.Levels) (*Server, error) {
	name := setting.DefaultServer
	if l, ok := levels[setting.Server]; ok {
		name = l.String()
	}
	if s := x.Servers[name]; s != nil {
		return s, nil
	}
	if s := shared()[name]; s != nil {
		return s, nil
	}
	known := slices.Concat(slices.Collect(maps.Keys(shared())), slices.Collect(maps.Keys(x.Servers)))
	slices.Sort(known)
	return nil, fmt.Errorf("no server %q; %s", name, strict.Instead(name, slices.Compact(known)))
}

// Loaded gives the servers of all conditions, each once, in the order of the
// conditions.
func (x *Experiment) Loaded() (all []*Server) {
	for _, levels := range x.Conditions() {
		if s := x.Server(x.fixed.With(levels)); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// Unprofiled names a server of the experiment that serves no profiles; empty if
// all do.
func (x *Experiment) Unprofiled() string {
	if s, ok := strict.Find(x.Loaded(), func(s *Server) bool { return !s.Profiled() }); ok {
		return s.Name
	}
	return ""
}

// twice names the first of an experiment's own servers that has the name of a
// shared one. Only new files are refused for it: in the design of an earlier run
// the experiment's own is meant.
func (x *Experiment) twice() error {
	for _, name := range slices.Sorted(maps.Keys(x.Servers)) {
		if shared()[name] != nil {
			return fmt.Errorf("servers.%s: lab/servers.toml has a server of that name; choose another name", name)
		}
	}
	return nil
}

// own are settings of a server, which it must take to have them set.
var own = []string{setting.Stack, setting.Prefork, setting.Workers, setting.Index, setting.WriteBuffer, setting.SpinNs,
	setting.BlockRateNs}

// lacks names a setting that is given and that the server does not take.
func (s *Server) lacks(levels setting.Levels) string {
	name, _ := strict.Find(own, func(name string) bool {
		_, given := levels[name]
		return given && !s.template.has(name)
	})
	return name
}
