package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestClientsLoadAtTheSameTimeAndTheirLinesComeBack(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	c := r.run(nil, "say=hello there", "load=well", "load=well", "exit=1")
	if c.err != nil || c.status != 1 {
		t.Errorf("status %d: %v", c.status, c.err)
	}
	for i := 1; i <= 3; i++ {
		if want := fmt.Sprintf("client %d: 7 requests, held true, close true, busy true, rx true\n", i); strings.Count(c.out,
			want) != 2 {
			t.Errorf("not twice: %q", want)
		}
	}
	if c.errs != "hello there\n" {
		t.Errorf("%q", c.errs)
	}
}

// One kernel has one wall clock, so a client's is set ahead by a variable, which the
// lab of this host alone gets.
func TestAClockThatIsAheadIsMeasuredAndUsed(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.lab(2, ClockAhead+"=0.2 exec "+r.self()+` "$@"`)
	c := r.run(func(f *Fleet) {
		if note := f.Hellos()[2].Note; !strings.Contains(note, "0.2 s ahead") {
			t.Errorf("the host says %q", note)
		}
	}, "clocks", "load=well")
	var clocks []Clock
	line, _, _ := strings.Cut(c.out, "\n")
	if err := json.Unmarshal([]byte(line), &clocks); err != nil || len(clocks) != 2 {
		t.Fatal(err, line)
	}
	for i, want := range []float64{0, 0.2} {
		if k := clocks[i]; k.Method != "round-trips" || k.UncertaintyS <= 0 || math.Abs(k.OffsetS-want) > k.UncertaintyS {
			t.Errorf("client %d: %+v, want an offset of %v s", i+1, k, want)
		}
	}
	if !strings.Contains(c.out, "client 2: 7 requests, held true, close true") {
		t.Error("its slot was not at the common time")
	}
}

func TestHowALoadFails(t *testing.T) {
	t.Parallel()
	for does, want := range map[string]string{
		"garbage": "client 1: failed: client 1: http_load's output: not a line of http_load",
		"fail":    "client 1: failed: client 1: exit status 1: http_load: cannot connect",
		"refuse":  "client 1: refused: client 1: trial.sh: http_load is not built; run 'make build'",
	} {
		t.Run(does, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 1)
			c := r.run(nil, "load="+does, "load=well")
			if !strings.Contains(c.out, want) {
				t.Errorf("no %q", want)
			}
			if !strings.Contains(c.out, "client 1: 7 requests") {
				t.Error("the next load did not go on")
			}
		})
	}
}

func TestAHostWithoutAnAnswerIsNamedInOneLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lab, want string
	}{
		"no lab":       {"", "there is no lab in the checkout at "},
		"no checkout":  {"", "there is no checkout at /nowhere/at/all (line_rate_dir); make fleet-prepare mends it"},
		"a banner":     {"garbage", `no frame: "Welcome to this host!"; what prints this on that host, as a login shell's ~/.bashrc may`},
		"another lab":  {"future", "its lab speaks version 99"},
		"an old lab":   {"", `no command "fleet-client"`},
		"a wrong CPU":  {"", "line_rate_cpus 0-99: CPU 1 cannot be used there; 0 can"},
		"no interface": {"", `line_rate_device: there is no interface "nowhere0"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 2)
			h := &r.inv.Hosts[2]
			switch {
			case name == "no lab":
				if err := os.Remove(filepath.Join(h.Dir, ".tools/bin/lab")); err != nil {
					t.Fatal(err)
				}
			case name == "no checkout":
				h.Dir = "/nowhere/at/all"
			case name == "an old lab":
				r.lab(2, `echo "lab: no command \"$1\"" >&2; exit 3`)
			case name == "a wrong CPU":
				h.asked.CPUs = "0-99"
			case name == "no interface":
				h.asked.Device = "nowhere0"
			default:
				r.lab(2, "exec "+r.self()+" "+c.lab)
			}
			got := r.run(nil)
			if got.err == nil || strings.Count(got.err.Error(), "\n") > 0 ||
				!strings.HasPrefix(got.err.Error(), "client 2, h2.example: "+c.want) && !strings.Contains(got.err.Error(), c.want) {
				t.Errorf("%v, want %q", got.err, c.want)
			}
		})
	}
}

// Servers listen where the inventory says that clients reach them, which has to be an
// address of their host.
func TestAServerListensOnlyAtAnAddressOfItsHost(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.7": "it has no interface with the address 192.0.2.7, as behind NAT, so its servers cannot listen " +
			"there; set line_rate_address",
		"::1":          `its servers listen at an IPv4 address, and "::1" is none; set line_rate_address`,
		"web.internal": `"web.internal" is none; set line_rate_address`,
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 1)
			r.inv.Hosts[0].asked.Address = address
			r.inv.Hosts[0].asked.Device = "lo" // that it is named changes nothing
			got := r.run(nil)
			if got.err == nil || strings.Contains(got.err.Error(), "\n") || !strings.Contains(got.err.Error(), want) {
				t.Errorf("%v, want %q", got.err, want)
			}
		})
	}
}

func TestAnotherBuildIsADifference(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.write(r.inv.Hosts[2].Dir, ".tools/bin/http_load", "another build\n")
	r.run(func(f *Fleet) {
		got := f.Differences()
		if len(got) != 1 || !strings.Contains(got[0], "client 2, h2.example: its http_load is another build") ||
			!strings.Contains(got[0], "prepare") {
			t.Errorf("%q", got)
		}
	}, "wait=300ms")
}

func TestAClientThatIsKilledIsLostAndTheOthersGoOn(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	c := r.run(func(f *Fleet) {
		generator := r.pid(2)
		f.mu.Lock()
		agent := f.hosts[2].proc.Pid()
		f.mu.Unlock()
		_ = syscall.Kill(agent, syscall.SIGKILL)
		eventually(t, "end of its generator", func() bool { return !runs(generator) })
	}, "load=well", "clocks")
	if !strings.Contains(c.out, "client 2: lost: client 2 was lost in mid-run: its connection ended") {
		t.Error("not said of the load")
	}
	if !strings.Contains(c.out, "client 1: 7 requests") {
		t.Error("client 1 did not go on")
	}
	if !strings.Contains(c.errs, "lab: client 2 was lost in mid-run: it ended while its clock was measured") {
		t.Error("not said of its clock")
	}
	if strings.Contains(c.out, "example") {
		t.Error("the engine was told a host's name")
	}
	if !strings.Contains(c.errs, "client 2, h2.example is lost: ") {
		t.Error("not said on the terminal")
	}
}

// An agent that stands still answers nothing, though its connection stays.
func TestAClientThatStandsStillIsLost(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	c := r.run(func(f *Fleet) {
		r.pid(1)
		f.mu.Lock()
		agent := f.hosts[1].proc.Pid()
		f.mu.Unlock()
		_ = syscall.Kill(agent, syscall.SIGSTOP)
	}, "load=long")
	if !strings.Contains(c.out, "client 1: lost: client 1 was lost in mid-run: nothing came from it for 5s") {
		t.Error("not said")
	}
	if runs(r.pid(1)) {
		t.Error("its generator goes on")
	}
}

// A client may send anything. It is then lost, and nothing else happens.
func TestAGarbledClientIsLost(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	// Only the agent's hello is passed on, and then something else.
	r.lab(1, r.self()+` "$@" | { grep -m 1 '"kind":"hello"'; sleep 0.5; echo '{"kind":"ended","id":77,"client":1}'; sleep 5; }`)
	c := r.run(nil, "wait=1500ms", "load=well")
	if !strings.Contains(c.out+c.errs, "not started: client 1 was lost in mid-run: what came from it is no frame") &&
		!strings.Contains(c.errs, "client 1 was lost") {
		t.Errorf("%q", c.out)
	}
	if !strings.Contains(c.errs, "it speaks of a load that it was not given") {
		t.Errorf("%q", c.errs)
	}
}

// The controller is this process, so its end is that of its connections.
func TestWithoutTheControllerTheLoadsAndTheRunEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	var generator int
	c := r.run(func(f *Fleet) {
		generator = r.pid(1)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.closing.Store(true)
		for _, h := range f.hosts {
			h.conn.fail(fmt.Errorf("killed"))
		}
	}, "load=long")
	if c.err == nil {
		t.Error("a run without an end has a status")
	}
	eventually(t, "end of the load", func() bool { return !runs(generator) })
	at := filepath.Join(r.inv.Hosts[0].Dir, "ended")
	eventually(t, "end of the engine", func() bool { _, err := os.Stat(at); return err == nil })
	text, _ := os.ReadFile(at)
	if !strings.HasPrefix(string(text), "the host that started the run is gone") {
		t.Errorf("the engine ended with %q", text)
	}
}

func TestKeptFilesAreCollectedAndNoOtherIsOverwritten(t *testing.T) {
	t.Parallel()
	const one, two = "data/results/99-tiny/a.json", "data/designs/b.toml"
	made := func(t *testing.T) (*rig, string) {
		r := newRig(t, 1)
		there := r.inv.Hosts[0].Dir
		r.write(there, one, strings.Repeat("0123456789abcdef", 100_000))
		r.write(there, two, "")
		return r, "keep=" + filepath.Join(there, two) + "," + filepath.Join(there, one)
	}
	same := func(t *testing.T, r *rig) {
		t.Helper()
		for _, name := range []string{one, two} {
			a, _ := os.ReadFile(filepath.Join(r.inv.Hosts[0].Dir, name))
			if b, err := os.ReadFile(r.root.Path(name)); err != nil || string(a) != string(b) {
				t.Errorf("%s: %d bytes of %d: %v", name, len(b), len(a), err)
			}
		}
	}
	t.Run("twice", func(t *testing.T) {
		t.Parallel()
		r, keep := made(t)
		c := r.run(nil, keep, keep)
		if c.err != nil || len(c.collected) != 2 {
			t.Errorf("%v, %v", c.err, c.collected)
		}
		same(t, r)
	})
	t.Run("another file is there", func(t *testing.T) {
		t.Parallel()
		r, keep := made(t)
		r.write(string(r.root), one, "mine")
		c := r.run(nil, keep)
		if text, _ := os.ReadFile(r.root.Path(one)); string(text) != "mine" {
			t.Error("it was overwritten")
		}
		if c.err == nil || !strings.Contains(c.err.Error(), one+
			" differs from the one on the server's host; neither was changed") {
			t.Errorf("%v: %q", c.err, c.errs)
		}
	})
	t.Run("a file that tells a host's name", func(t *testing.T) {
		t.Parallel()
		r, keep := made(t)
		words := r.inv.Words()
		r.inv.Check = func(path string, _ []byte) error {
			if path == one && slices.Contains(words, "h0.example") {
				return errors.New("it has h0.example in it")
			}
			return nil
		}
		c := r.run(nil, keep)
		if c.err == nil || !strings.Contains(c.err.Error(), one+": it has h0.example in it") ||
			!slices.Equal(c.collected, []string{two}) {
			t.Errorf("%v, collected %v: %q", c.err, c.collected, c.errs)
		}
		if _, err := os.Stat(r.root.Path(one)); err == nil {
			t.Error("it was written")
		}
	})
	t.Run("no place to write", func(t *testing.T) {
		t.Parallel()
		r, keep := made(t)
		r.write(string(r.root), "data", "a file where the directory would be")
		c := r.run(nil, keep)
		if c.err == nil || !strings.Contains(c.err.Error(), "could not be written there") ||
			!strings.Contains(c.err.Error(), "lab fleet collect fetches it") {
			t.Errorf("%v: %q", c.err, c.errs)
		}
		if left, _ := filepath.Glob(r.root.Path(".tools", "scratch", "staged-*")); len(left) > 0 {
			t.Errorf("half-written: %v", left)
		}
	})
}

func TestInterruptedTheEngineEndsInOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	c := r.run(func(f *Fleet) {
		time.Sleep(200 * time.Millisecond)
		f.hosts[0].conn.send(frame{Kind: kindEnd})
	}, "wait=1m")
	if c.status != 3 || !strings.Contains(c.errs, "lab: the host that started the run asked for its end") {
		t.Errorf("status %d: %q", c.status, c.errs)
	}
}
