package experiment

import (
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

func TestTheSharedServers(t *testing.T) {
	var names []string
	for _, s := range Shared() {
		names = append(names, s.Name)
		if s.About == "" || s.Title == "" || strings.ContainsAny(s.Command, "\n") {
			t.Errorf("%+v", s)
		}
	}
	for _, name := range []string{"fiber", "null", "producer"} {
		if !slices.Contains(names, name) {
			t.Errorf("no %s among %v", name, names)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("%v", names)
	}
}

func TestServersThatAreRefused(t *testing.T) {
	for _, c := range []struct{ name, table, says string }{
		{"Go", "command = \"x\"", "servers.Go"},
		{"go", "", "servers.go: command is missing"},
		{"go", "command = \"x 'y\"", "servers.go: command has a quote ' that does not end"},
		{"go", "command = \"{addr}\"", "its first word is the program"},
		{"go", "command = \"x {prot}\"", `nothing is filled in for {prot}; did you mean "port"?`},
		{"go", "command = \"x\"\nenv = { A = \"{wokers}\" }", `nothing is filled in for {wokers}; did you mean "workers"?`},
		{"go", "command = \"x\"\nenv = { \"A B\" = \"1\" }", `env: "A B" is no name of a variable`},
		{"go", "command = \"x\"\noptions = { write_buffer = \"-w {}\" }", `unknown key`},
		{"go", "command = \"x\"\nanswers = \"fibre\"", `answers "fibre": did you mean "fiber"?`},
		{"go", "command = \"x\"\nbuild = \"all -k\"", "no make target"},
		{"go", "command = \"x\"\nneeds = [\"go; rm\"]", "needs"},
		{"go", "command = \"x\"\nprefork = true", "say in ready"},
		{"go", "command = \"x\"\nevents = true", "say in ready"},
		{"go", "command = \"x\"\nready = \"y\"\nevents = true\nanswers = \"null\"", "answers none of the routes"},
		{"go", "command = \"x\"\nready = \"y\"\nstreams = true\nprefork = true", "has no prefork"},
		{"go", "command = \"x\"\nready = \"y\"\nstreams = true\nevents = true", "and not both"},
	} {
		table := "[servers." + c.name + "]\n" + c.table + "\n"
		_, err := ParseServers([]byte("# one\n\n" + table))
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "line ") &&
			!strings.Contains(err.Error(), "keys are written") {
			t.Errorf("%s: %v, want %q", c.table, err, c.says)
		}
	}
}

// A word whose value is not given is left out, with the option that takes it.
func TestTheCommandLineOfAServer(t *testing.T) {
	s, err := NewServer("go", Server{
		Command: `./x --addr {addr} -w {write_buffer} --cpus={cpus} "two words" --flag --prefork={prefork} --pprof {sockets} {stack} ''`,
		Env:     map[string]string{"THREADS": "{workers}", "LEVEL": "{index}", "A": "1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at     Place
		levels setting.Levels
		words  []string
		env    []string
	}{
		{Place{Host: "127.0.0.1", Port: "80", Workers: "2"}, nil,
			[]string{"./x", "--addr", "127.0.0.1:80", "two words", "--flag", ""}, []string{"A=1", "THREADS=2"}},
		{Place{Host: "h", Port: "1", Workers: "2", CPUs: "0-1", Sockets: "d"},
			setting.Levels{"write_buffer": setting.Int(8), "prefork": setting.Bool(false), "stack": setting.String("fiber"),
				"index": setting.String("pool"), "workers": setting.Int(9)},
			[]string{"./x", "--addr", "h:1", "-w", "8", "--cpus=0-1", "two words", "--flag", "--prefork=false", "--pprof", "d",
				"fiber", ""}, []string{"A=1", "LEVEL=pool", "THREADS=2"}},
	} {
		words, env := s.Line(c.at, c.levels)
		if !slices.Equal(words, c.words) || !slices.Equal(env, c.env) {
			t.Errorf("%q %q, want %q %q", words, env, c.words, c.env)
		}
	}
	if !s.template.has("write_buffer") || s.template.has("spin_ns") || !s.Profiled() {
		t.Error("what it takes")
	}
}

// own has two servers of the design's own as levels of its last factor.
var ownServers = strings.NewReplacer(`name = "pipelining"`, `name = "server"`, "levels = [1, 10]",
	`levels = ["fast", "slow"]`, `over = "pipelining"`, `over = "server"`).Replace

const ownTables = "\n[servers.fast]\ncommand = \"fast {addr} {workers} {prefork}\"\n[servers.slow]\ncommand = " +
	"\"slow {addr} {workers} {prefork}\"\n"

func TestServersOfAnExperiment(t *testing.T) {
	text := ownServers(whole) + ownTables
	x, err := Parse("made-up", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if all := x.Loaded(); len(all) != 2 || all[0].Name != "fast" || x.Unprofiled() != "fast" {
		t.Errorf("%v", all)
	}
	lock := func(text string) string {
		x, err := Parse("made-up", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return x.Lock(x.Claims[0])
	}
	// The digest is of what decides a request's cost, and of loaded servers.
	was := lock(text)
	for change, differs := range map[string]bool{
		"command = \"fast {addr} {workers} {prefork} --more\"":                    true,
		"command = \"fast {addr} {workers} {prefork}\"\nenv = { A = \"1\" }":      true,
		"command = \"fast {addr} {workers} {prefork}\"\nbuild = \"fast\"":         true,
		"command = \"fast {addr} {workers} {prefork}\"\ntitle = \"The fast one\"": false,
	} {
		if now := lock(strings.Replace(text, "command = \"fast {addr} {workers} {prefork}\"", change,
			1)); (now != was) != differs {
			t.Errorf("%s: another lock %v", change, now != was)
		}
	}
	if lock(whole) != lock(whole+"\n[servers.unused]\ncommand = \"x\"\n") {
		t.Error("a server that is not loaded changes the lock")
	}
	for _, c := range []struct{ old, new, says string }{
		{`"slow"]`, `"slwo"]`, `no server "slwo"; did you mean "slow"?`},
		{"fast {addr} {workers} {prefork}", "fast {addr} {workers}", "the fast server has no prefork"},
		{"http_load", "autocannon", "the fast server's are its own; use http_load"},
	} {
		if _, err := Parse("made-up", []byte(strings.Replace(text, c.old, c.new, 1))); err == nil ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.new, err, c.says)
		}
	}
	// In a new file a shared server's name is taken; a stored design means its own.
	mine := strings.ReplaceAll(text, "slow", "null")
	if x, err := Parse("made-up", []byte(mine)); err != nil || x.Loaded()[1].Command != "null {addr} {workers} {prefork}" {
		t.Errorf("%v", err)
	} else if err := x.twice(); err == nil ||
		err.Error() != "servers.null: lab/servers.toml has a server of that name; choose another name" {
		t.Errorf("%v", err)
	}
}
