package experiment

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/setting"
)

func TestTheSharedServersAreSound(t *testing.T) {
	for name, s := range shared() {
		if s.Name != name || s.About == "" || s.Title == "" || strings.ContainsAny(s.Command, "\n") {
			t.Errorf("%+v", s)
		}
	}
}

// A word whose value is not given is left out, with the option that takes it.
func TestTheCommandLineOfAServer(t *testing.T) {
	s := &Server{Command: `./x --addr {addr} -w {write_buffer} --cpus={cpus} "two words" --flag
			--prefork={prefork} --pprof {sockets} {stack} ''`,
		Env: map[string]string{"THREADS": "{workers}", "LEVEL": "{index}", "A": "1"}, Ready: "on {addr}", Prefork: true}
	if err := s.resolve("go"); err != nil || strings.Contains(s.Command, "\n") {
		t.Fatal(s.Command, err)
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
	if got := s.ReadyLine(Place{Host: "h", Port: "1"}); got != "on h:1" {
		t.Error(got)
	}
	if all := (setting.Levels{"workers": setting.Int(3)}); s.Workers(all, 7) != 3 || s.Workers(nil, 7) != 7 ||
		s.Workers(setting.Levels{"prefork": setting.Bool(false)}, 7) != 0 {
		t.Error("how many processes it starts")
	}
}

// The digest is of what decides a request's cost.
func TestTheLockIsOfTheServersThatAreLoaded(t *testing.T) {
	x := parse(t, owning)
	if all := x.Loaded(); len(all) != 2 || all[0].Name != "fast" {
		t.Errorf("%v", all)
	}
	for change, differs := range map[string]bool{" --more\"": true, "\"\nenv = { A = \"1\" }": true,
		"\"\nbuild = \"fast\"": true, "\"\ntitle = \"The fast one\"": false} {
		y := parse(t, with(t, owning, "fast {addr} {workers} {prefork}\"", "fast {addr} {workers} {prefork}"+change))
		if y.Holds(x, x.Claims[0]) == differs {
			t.Errorf("%s: the claim is the same: %v", change, !differs)
		}
	}
}

// A machine that lacks a server of the design does not measure it, and says what to do.
func TestAServerThatIsNotThereIsNamed(t *testing.T) {
	for _, c := range []struct{ slow, why string }{
		{"needs = [\"no-such-tool\"]", "the slow server needs no-such-tool, which is not installed"},
		{"build = \"peers\"\nprogram = \"bin/slow\"",
			"the slow server is not built (bin/slow is not there); make peers builds it"},
		{"build = \"build\"\nprogram = \"bin/slow\"", ""}, // the lab itself is never missing for good
		{"build = \"peers\"\nprogram = \"bin/there\"\nneeds = [\"no-such-tool\"]", ""},
	} {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, "bin", "there"), 0o755); err != nil {
			t.Fatal(err)
		}
		x := parse(t, with(t, owning, "[servers.slow]\n", "[servers.slow]\n"+c.slow+"\n"))
		if why := x.Lacking(root); strings.Join(why, "; ") != c.why {
			t.Errorf("%s: %q", c.slow, why)
		}
	}
}
