package run

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
)

// foreign, set in the environment, makes this test binary a server that is none
// of the lab's: it takes an address and what is special about it.
const foreign = "RUN_TEST_SERVER"

func serveForeign(addr, how string) {
	how, n, _ := strings.Cut(how, "=")
	number, _ := strconv.ParseInt(n, 10, 64)
	var answers atomic.Int64
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		switch i := answers.Add(1); {
		case how == "refuses":
			w.WriteHeader(http.StatusTeapot)
		case how == "dies" && i > number:
			os.Exit(9)
		case how == "leaves":
			w.Header().Set("Connection", "close")
		case how == "later" && i > number, how == "other":
			fmt.Fprint(w, "Hello, World.")
			return
		}
		fmt.Fprint(w, "Hello, world.")
	})
	switch how {
	case "silent":
		time.Sleep(time.Hour)
	case "elsewhere":
		addr = "127.0.0.1:0"
	case "forks":
		child := exec.Command(os.Args[0], addr, "plain")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := child.Start(); err != nil {
			panic(err)
		}
		// At once: the race detector would wait a second, for which a block need not last.
		syscall.Exit(0)
	case "worker":
		ln, err := net.FileListener(os.NewFile(3, "listener"))
		if err != nil {
			panic(err)
		}
		panic(http.Serve(ln, handler))
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if how != "master" {
		panic(http.Serve(ln, handler))
	}
	file, err := ln.(*net.TCPListener).File()
	for range number {
		child := exec.Command(os.Args[0], addr, "worker")
		if child.ExtraFiles = []*os.File{file}; err == nil {
			err = child.Start()
		}
	}
	if err != nil {
		panic(err)
	}
	for { // without cgo, select {} would be taken for a deadlock
		time.Sleep(time.Hour)
	}
}

// pair compares two servers of the test's own, by what is special about each.
func pair(t *testing.T, first, second string) *experiment.Experiment {
	t.Helper()
	return pairOver(t, "", first, second)
}

func pairOver(t *testing.T, topology, first, second string) *experiment.Experiment {
	t.Helper()
	table := func(name, how string) string {
		return fmt.Sprintf("[servers.%s]\ncommand = \"%s {addr} %s\"\nenv = { %s = \"{addr}\" }\n", name, os.Args[0], how,
			foreign)
	}
	return design{topology: topology, settings: "generator = \"http_load\"\nconnections = 4\nroute = \"/any/path\"",
		factor: "server", levels: `["first", "second"]`,
		more: table("first", first) + table("second", second)}.parse(t)
}

// A server of any program is measured like the lab's own: in turns, with the
// CPU time of all its processes, in a file that passes Check.
func TestServersOfAnyProgram(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	x := pair(t, "plain", "master=2")
	plan := p.plan(x)
	plan.MaxBlocks = 1
	if err := plan.Ready(); err != nil {
		t.Fatal(err)
	}
	p.until(func() []results.Trial {
		made, err := Do(t.Context(), plan, &watching{})
		if err != nil {
			t.Fatal(err)
		}
		sound(t, x, made.File)
		if made.File.Provenance.Binaries[os.Args[0]].SHA256 == "" {
			t.Errorf("nothing says which program ran: %v", made.File.Provenance.Binaries)
		}
		return made.File.Trials
	}, func(trials []results.Trial) bool {
		for _, one := range trials {
			want := 1.0
			if one.Condition == "c2" {
				want = 3
			}
			// The control is one of them again.
			if one.Condition != "c3" && one.Metrics["processes"] != want {
				t.Fatalf("%s: %v processes", one.Condition, one.Metrics["processes"])
			}
			if one.Metrics["server_cpu_per_request_s"] <= 0 || one.Metrics["non_2xx"] > 0 || one.Metrics["errors"] > 0 {
				return false
			}
		}
		return true
	})
	endedAll(t, plan.Port)
}

// endedAll fails if a server of a run of two, and of one of them again, runs on.
func endedAll(t *testing.T, port int) {
	t.Helper()
	for end := port + 3; port < end; port++ {
		if left := toldToListen(port); len(left) > 0 {
			t.Errorf("%d: servers run on: %v", port, left)
		}
	}
}

// What a server does wrong is one line that ends the run or its trial, and
// nothing of it runs on.
func TestServersThatCannotBeMeasured(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, c := range []struct{ how, says string }{
		{"other", " on 127.0.0.1:PORT: body SHA-256 "},
		{"silent", "second does not answer /any/path: no answer as expected within "},
		{"refuses", "second does not answer /any/path: it answers with status 418"},
		{"leaves", "it ends the connection after an answer (HTTP/1.1), and the load goes over connections that stay"},
		{"elsewhere", "second listens on port "},
		{"forks", "the command ended and left a process "},
		{"dies=0", "the server did not start: "},
	} {
		t.Run(c.how, func(t *testing.T) {
			t.Parallel()
			plan := p.plan(pair(t, "plain", c.how))
			plan.readyWithin = 6 * time.Second
			made, err := Do(t.Context(), plan, &watching{})
			if made != nil || err == nil {
				t.Fatalf("%v, %v", made, err)
			}
			said := regexp.MustCompile(`1:\d+`).ReplaceAllString(err.Error(), "1:PORT")
			if !strings.Contains(said, strings.ReplaceAll(c.says, "second does", "second on 127.0.0.1:PORT does")) ||
				strings.Contains(said, "\n") {
				t.Errorf("%s", said)
			}
			endedAll(t, plan.Port)
		})
	}
}

// In a wire's namespaces process ids are others, and the same holds.
func TestServersOfAnyProgramOverAWire(t *testing.T) {
	t.Parallel()
	p := newPlace(t)

	plan := p.plan(pairOver(t, shaped, "plain", "master=1"))
	plan.MaxBlocks = 1
	made, err := Do(t.Context(), plan, &watching{})
	if none, ok := errors.AsType[Unable](err); ok {
		t.Skip(none.Why)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range made.File.Trials[:2] {
		if want := map[string]float64{"c1": 1, "c2": 2}[one.Condition]; want > 0 && one.Metrics["processes"] != want &&
			!disturbed(one) {
			t.Errorf("%s: %v processes, %v", one.Condition, one.Metrics["processes"], one.Reasons)
		}
	}
	if made, err := Do(t.Context(), p.plan(pairOver(t, shaped, "plain", "forks")), &watching{}); made != nil ||
		err == nil || !strings.Contains(err.Error(), "the command ended and left a process ") {
		t.Errorf("%v, %v", made, err)
	}
}

// toldToListen lists all processes whose environment has the port, wherever they
// are by now.
func toldToListen(port int) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		env, _ := os.ReadFile("/proc/" + e.Name() + "/environ")
		if strings.Contains(string(env), fmt.Sprintf("%s=127.0.0.1:%d\x00", foreign, port)) {
			pid, _ := strconv.Atoi(e.Name())
			pids = append(pids, pid)
		}
	}
	return pids
}

// A port that another program answers on is not measured in the server's place.
func TestAPortThatAnotherProgramHas(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	plan := p.plan(pair(t, "plain", "silent"))
	ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", plan.portOf(1, 3)))
	if err != nil {
		t.Fatal(err)
	}
	go http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "Hello, world.") }))
	defer ln.Close()
	if _, err := Do(t.Context(), plan, &watching{}); err == nil ||
		!strings.Contains(err.Error(), "is already in use: another program than second answers there") {
		t.Errorf("%v", err)
	}
}

// Without its tools or its build an experiment is not applicable, by name and
// with the way out. A program that nothing builds is an error.
func TestServersThatAreNotHere(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	one := func(keys string) Plan {
		x := design{settings: "generator = \"http_load\"\nconnections = 4", factor: "server", levels: `["fiber", "peer"]`,
			more: "[servers.peer]\nanswers = \"fiber\"\n" + keys}
		x.settings += "\nroute = \"/read\""
		return Plan{Root: journal.Root(at), Experiment: x.parse(t), Host: &host.Profile{ID: "here", Cores: 1 << 10}}
	}
	for _, c := range []struct{ keys, says string }{
		{"command = \".tools/bin/peer --addr {addr}\"\nbuild = \"peers\"",
			"the peer server is not built (.tools/bin/peer is not there); make peers builds it"},
		{"command = \".tools/bin/peer --addr {addr}\"\nbuild = \"peers\"\nneeds = [\"sh\", \"no-such-tool\"]",
			"the peer server needs no-such-tool, which is not installed"},
		{"command = \"no-such-tool {port}\"\nneeds = [\"no-such-tool\"]",
			"the peer server needs no-such-tool, which is not installed"},
		{"command = \"sh {port}\"\nneeds = [\"sh\"]", ""},
		{"command = \"no-such-tool {port}\"", ""},
	} {
		if got := one(c.keys).Unreachable(); got != c.says {
			t.Errorf("%s: %q", c.keys, got)
		}
	}
	p := newPlace(t)
	plan := one("command = \"no-such-tool {port}\"")
	plan.Root, plan.Split = p.plan(plan.Experiment).Root, p.plan(plan.Experiment).Split
	if err := plan.Ready(); err == nil || err.Error() != "the server cannot be started: server.sh: no-such-tool is not "+
		"there, or cannot be run" {
		t.Errorf("%v", err)
	}
}
