package results

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

// What a shared server's definition changes about a run's own command lines
// tells designs apart, and nothing else does.
func TestDefinitionsOfServersTellDesignsApart(t *testing.T) {
	fiber := definitionOf(design(t).Server(nil))
	run := func(change func(*Server)) *File {
		s := fiber
		change(&s)
		return &File{SchemaVersion: Version, Settings: setting.Levels{"route": setting.String("/read")},
			Conditions: []Condition{{ID: "c1", Levels: setting.Levels{"prefork": setting.Bool(false)}}},
			Provenance: &Provenance{Block: &BlockPlan{}, Servers: map[string]Server{"fiber": s}}}
	}
	as := func(old, new string) func(*Server) {
		return func(s *Server) {
			if !strings.Contains(s.Command, old) {
				t.Fatalf("no %q in %q", old, s.Command)
			}
			s.Command = strings.Replace(s.Command, old, new, 1)
		}
	}
	today := run(func(*Server) {})
	for _, c := range []struct {
		name    string
		change  func(*Server)
		another bool
	}{
		{"as it is", func(*Server) {}, false},
		{"before it had learnt a setting that the run does not give", as(" --spin-ns {spin_ns}", ""), false},
		{"before it took profiles", as(" --pprof-sockets {sockets}", ""), false},
		{"before it had learnt one that the run gives", as(" --prefork={prefork}", ""), true},
		{"with an option more", as(" --addr", " --fast --addr"), true},
		{"with a variable", func(s *Server) { s.Env = map[string]string{"GOGC": "off"} }, true},
		{"built otherwise", func(s *Server) { s.Build = "fast" }, true},
		{"with a setting that there is no more", as("{index}", "{indices}"), true},
	} {
		f := run(c.change)
		if f.SamePrograms(today) == c.another || today.SamePrograms(f) == c.another {
			t.Errorf("%s: the same as today's %v", c.name, f.SamePrograms(today))
		}
	}
	// Runs of before say nothing of their servers, and stay as they are.
	old := run(func(*Server) {})
	if old.Provenance.Servers = nil; !old.SamePrograms(today) || !today.SamePrograms(old) {
		t.Error("a run that does not say it")
	}
	// Which server a condition loads decides whose line it is.
	null := run(func(*Server) {})
	null.Conditions[0].Levels = setting.Levels{"server": setting.String("null")}
	null.Provenance.Servers = map[string]Server{"fiber": {Command: "another", Build: fiber.Build, Prefork: fiber.Prefork}}
	if !null.SamePrograms(today) {
		t.Error("a definition that no condition uses")
	}
}

func TestCommandLinesCanBeTyped(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want string
	}{
		{[]string{"lab/scripts/server.sh", "--cpus", "0-1", "--command", "--", "nginx", "-g", "daemon off;", ""},
			"lab/scripts/server.sh --cpus 0-1 --command -- nginx -g 'daemon off;' ''"},
		{[]string{"lab/scripts/server.sh", "--env", "A=$HOME `x`"}, "lab/scripts/server.sh --env 'A=$HOME `x`'"},
	} {
		if got := CommandLine(c.argv); got != c.want || !commandLine.MatchString(got) {
			t.Errorf("%s", got)
		}
	}
	for _, line := range []string{"lab/scripts/server.sh 'a", "lab/scripts/server.sh 'a'b",
		"lab/scripts/server.sh 'a' $(b)", "lab/scripts/server.sh 'a\nb'"} {
		if commandLine.MatchString(line) {
			t.Errorf("%q is taken", line)
		}
	}
}
