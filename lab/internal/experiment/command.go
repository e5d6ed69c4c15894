package experiment

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A command is a server's command and environment with what is to be filled in.
type command struct {
	words []string
	env   []string // NAME=VALUE, sorted
}

// A Place is where a server has to listen, and what it may use. An empty text
// means that there is nothing to fill in.
type Place struct{ Host, Port, Workers, CPUs, Sockets string }

// Addr is host and port.
func (p Place) Addr() string { return p.Host + ":" + p.Port }

func (p Place) named() map[string]string {
	return map[string]string{"addr": p.Addr(), "host": p.Host, "port": p.Port, "workers": p.Workers, "cpus": p.CPUs,
		"sockets": p.Sockets}
}

var (
	placeholder = regexp.MustCompile(`\{[a-z_]+\}`)
	variable    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

func parseCommand(line string, env map[string]string) (command, error) {
	words, err := strict.Words(line)
	if err == nil && len(words) == 0 {
		err = errors.New("is missing: say how the server is started")
	}
	if err != nil {
		return command{}, fmt.Errorf("command %w", err)
	}
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "'") }) {
		return command{}, errors.New("command: a word has a single quote, which the line that pages print could not hold")
	}
	c := command{words: words}
	if len(c.within(words[0])) > 0 {
		return command{}, errors.New("command: its first word is the program, with nothing to fill in")
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !variable.MatchString(name) {
			return command{}, fmt.Errorf("env: %q is no name of a variable", name)
		}
		if err := strict.CheckLine(env[name]); err != nil {
			return command{}, fmt.Errorf("env.%s %w", name, err)
		}
		c.env = append(c.env, name+"="+env[name])
	}
	known := slices.Concat(slices.Collect(maps.Keys(Place{}.named())), setting.Names())
	for _, word := range slices.Concat(c.words, c.env) {
		for _, name := range c.within(word) {
			if !slices.Contains(known, name) {
				return command{}, fmt.Errorf("command: nothing is filled in for {%s}; %s", name,
					strict.Instead(name, slices.Compact(slices.Sorted(slices.Values(known)))))
			}
		}
	}
	return c, nil
}

// within names what is to be filled in within a word.
func (command) within(word string) []string {
	return strict.Map(placeholder.FindAllString(word, -1), func(p string) string { return strings.Trim(p, "{}") })
}

func (c command) has(name string) bool {
	return slices.ContainsFunc(slices.Concat(c.words, c.env),
		func(word string) bool { return slices.Contains(c.within(word), name) })
}

// Line gives the words and the environment with which the server is started
// under these settings, at a place.
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
	for i, word := range s.template.words {
		filled, ok := fill(word)
		switch {
		case ok:
			words = append(words, filled)
		case i > 0 && placeholder.FindString(word) == word && strings.HasPrefix(s.template.words[i-1], "-") &&
			len(words) > 0 && words[len(words)-1] == s.template.words[i-1]:
			words = words[:len(words)-1] // the option whose value it would be
		}
	}
	for _, one := range s.template.env {
		if filled, ok := fill(one); ok {
			env = append(env, filled)
		}
	}
	return words, env
}

// ReadyLine is the text of the line that says that it listens at a place.
func (s *Server) ReadyLine(at Place) string {
	return strings.NewReplacer("{addr}", at.Addr(), "{host}", at.Host, "{port}", at.Port).Replace(s.Ready)
}
