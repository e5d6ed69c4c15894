package tune

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func journal(t *testing.T) string {
	t.Helper()
	return filepath.Join(os.Getenv("LINE_RATE_STATE"), "originals.json")
}

func TestAJournalThatCannotBeReadIsOneLineAndNothingIsWritten(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	must(t, "mtu", "apply", "--dev", d.dev, "--entries", "1500")
	good, err := os.ReadFile(journal(t))
	if err != nil {
		t.Fatal(err)
	}
	edit := func(old, new string) string {
		t.Helper()
		if !strings.Contains(string(good), old) {
			t.Fatalf("no %q in\n%s", old, good)
		}
		return strings.Replace(string(good), old, new, 1)
	}
	for name, c := range map[string]struct{ text, words string }{
		"cut off": {string(good[:len(good)/2]), "the file ends in the middle"},
		"empty":   {"", "line 1"},
		"no JSON": {"originals\n", "line 1"},
		"a later version": {edit(`"version": 1`, `"version": 2`),
			"a journal of version 2, and this lab knows version 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(journal(t), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			before := snapshot(t, root, os.Getenv("LINE_RATE_STATE"))
			for _, args := range [][]string{
				{"restore"}, {"mtu", "restore"}, {"rps", "apply", "--dev", d.dev},
				{"mtu", worker, "--dev", d.dev, "--entries", "1400"}, {"show"}, {"mtu", "show", "--dev", d.dev},
			} {
				out, errs, err := lab(args...)
				if err == nil || strings.Contains(err.Error(), "\n") || errs != "" || out != "" {
					t.Errorf("%q: %q, %q, %v; want one line", args, out, errs, err)
					continue
				}
				if !strings.Contains(err.Error(), c.words) || !strings.Contains(err.Error(), journal(t)+": ") ||
					!strings.Contains(err.Error(), "nothing was written. Mend the file") {
					t.Errorf("%q: %v; want the file and %q", args, err, c.words)
				}
			}
			if !maps.Equal(before, snapshot(t, root, os.Getenv("LINE_RATE_STATE"))) {
				t.Error("something was written")
			}
		})
	}
	if err := os.WriteFile(journal(t), good, 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "restore")
}

func TestTheStateDirectoryIsTheOwnersAlone(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	must(t, "mtu", "apply", "--dev", d.dev, "--entries", "1500")
	for path, want := range map[string]os.FileMode{os.Getenv("LINE_RATE_STATE"): 0o755, journal(t): 0o644,
		filepath.Join(os.Getenv("LINE_RATE_STATE"), "lock"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
	before := snapshot(t, root)
	for path, loose := range map[string]os.FileMode{os.Getenv("LINE_RATE_STATE"): 0o770, journal(t): 0o602} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, loose); err != nil {
			t.Fatal(err)
		}
		if _, _, err := lab("restore"); err == nil ||
			!strings.Contains(err.Error(), path+" belongs to another user or can be written to by others") {
			t.Errorf("%s of %v: %v", path, loose, err)
		}
		if err := os.Chmod(path, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
	if !maps.Equal(before, snapshot(t, root)) {
		t.Error("something was restored")
	}
	must(t, "restore")
	if _, err := os.Stat(journal(t)); !os.IsNotExist(err) {
		t.Errorf("a journal without records: %v", err)
	}
}

func TestWhereOriginalsAreKept(t *testing.T) {
	t.Setenv("LINE_RATE_STATE", "/a")
	for _, c := range []struct{ asked, env, want string }{{"/b", "/a", "/b"}, {"", "/a", "/a"}} {
		t.Setenv("LINE_RATE_STATE", c.env)
		if got, err := stateDir(c.asked); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
	t.Setenv("LINE_RATE_STATE", "")
	t.Setenv("XDG_STATE_HOME", "/xdg")
	t.Setenv("HOME", "/home/x")
	want := "/xdg/line-rate"
	if machineRoot() {
		want = "/var/lib/line-rate"
	}
	if got, err := stateDir(""); err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if machineRoot() {
		return
	}
	t.Setenv("XDG_STATE_HOME", "not/whole")
	if got, err := stateDir(""); err != nil || got != "/home/x/.local/state/line-rate" {
		t.Errorf("%q, %v", got, err)
	}
}

// A user who forgets sudo must not conclude that nothing is held.
func TestAUserIsToldWhereRootKeepsItsOwn(t *testing.T) {
	c6i2xlarge.tree(t)
	old := rootDir
	rootDir = t.TempDir()
	t.Cleanup(func() { rootDir = old })
	t.Setenv("LINE_RATE_STATE", "")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	hint := "what root has saved is in " + rootDir + ": run with sudo for that\n"
	for _, args := range [][]string{{"restore"}, {"rps", "restore"}, {"show"}} {
		if out := must(t, args...); strings.Contains(out, hint) == machineRoot() {
			t.Errorf("%q: %s", args, out)
		}
	}
	if out := must(t, "restore", "--state", t.TempDir()+"/mine"); strings.Contains(out, hint) {
		t.Errorf("a directory that was named: %s", out)
	}
}

// Applying and restoring at the same time wait for each other.
func TestTwoAtOnceWaitForEachOther(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	before := snapshot(t, root)
	all := func(action string) {
		var group sync.WaitGroup
		for _, turn := range [][]string{{"rps", "--dev", d.dev}, {"mtu", "--dev", d.dev, "--entries", "1500"}, {"sysctl"}} {
			group.Go(func() {
				if out, err := process(do(action, turn)...).CombinedOutput(); err != nil {
					t.Errorf("%s %s: %v\n%s", turn[0], action, err, out)
				}
			})
		}
		group.Wait()
	}
	all("apply")
	if out := must(t, "show"); strings.Count(out, "\n") != 1+8+1+6 {
		t.Errorf("held:\n%s", out)
	}
	all("restore")
	if !maps.Equal(before, snapshot(t, root)) {
		t.Error("not everything came back")
	}
	if out := must(t, "show"); !strings.Contains(out, "no originals") {
		t.Errorf("%s", out)
	}
}
