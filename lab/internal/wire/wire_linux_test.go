package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"
)

const (
	role    = "WIRE_TEST_ROLE" // in the environment: what this program does in place of the tests
	address = ServerAddress + ":9000"
	size    = 5_000_000
)

// TestMain answers the program's own calls, as main does, and some that tests make.
func TestMain(m *testing.M) {
	if status, is := Called(os.Args[1:]); is {
		os.Exit(status)
	}
	switch os.Getenv(role) {
	case "serve":
		serve()
	case "fetch":
		fetch()
	default:
		os.Exit(m.Run())
	}
}

var spec = Spec{LineRateBps: 5e7, BurstBytes: 1 << 18, QueueS: 0.02}

func serve() {
	l, err := net.Listen("tcp", address)
	if err == nil {
		var c net.Conn
		if c, err = l.Accept(); err == nil {
			_, err = c.Write(make([]byte, size))
			c.Close()
		}
	}
	if err != nil {
		panic(err)
	}
}

// fetch prints how much came in how long.
func fetch() {
	var c net.Conn
	err := errors.New("not tried")
	for end := time.Now().Add(5 * time.Second); err != nil && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		c, err = net.Dial("tcp", address)
	}
	if err != nil {
		panic(err)
	}
	began := time.Now()
	n, _ := io.Copy(io.Discard, c)
	fmt.Println(n, int64(time.Since(began)))
}

func up(t *testing.T, s Spec) *Wire {
	t.Helper()
	w, err := Make(s)
	if _, ok := errors.AsType[Unavailable](err); ok {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Down)
	return w
}

func command(argv []string) *exec.Cmd {
	c := exec.Command(argv[0], argv[1:]...)
	c.Stderr = os.Stderr
	return c
}

// Bytes take as long as the line rate says at least, and the shapers count them on their side.
func TestAWireHasItsRate(t *testing.T) {
	w := up(t, spec)
	self, _ := os.Executable()
	server := command(w.Server([]string{"env", role + "=serve", self}))
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	out, err := command(w.Client([]string{"env", role + "=fetch", self})).Output()
	if err != nil {
		t.Fatal(err)
	}
	var n, took int64
	fmt.Sscan(string(out), &n, &took)
	// A burst passes at once.
	if least := time.Duration((size - 2*spec.BurstBytes) * 8 * int64(time.Second) / int64(spec.LineRateBps)); n != size || time.Duration(took) < least {
		t.Errorf("%d bytes in %v, which take %v", n, time.Duration(took), least)
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
	c, err := w.Read()
	if err != nil || c.TxBytes < size || c.TxBytes > size*11/10 || c.RxBytes <= 0 || c.RxBytes > c.TxBytes/5 ||
		c.TxPackets < size/1500 || c.RxPackets <= 0 {
		t.Errorf("%+v, %v", c, err)
	}
	again, err := w.Read()
	if err != nil || again.TxBytes < c.TxBytes || w.Lost() {
		t.Errorf("%+v, %v", again, err)
	}
	w.Down()
	w.Down()
	if _, err := w.Read(); err == nil || !w.Lost() {
		t.Errorf("a wire that is down was read: %v", err)
	}
}

func TestWhatRunsInAWire(t *testing.T) {
	w := up(t, spec)
	for _, c := range []struct {
		script, out, err string
		status           int
	}{
		{"cat /proc/net/route | wc -l", "2", "", 0}, // its head and the wire: no way out
		{"exit 7", "", "", 7},
		{"kill -TERM $$", "", "", 128 + 15},
		{"kill -KILL $$", "", "", -1},
		{"echo $LINE_RATE_WORD", "said", "", 0},
	} {
		cmd := command(w.Server([]string{"sh", "-c", c.script}))
		cmd.Env = append(os.Environ(), "LINE_RATE_WORD=said")
		out, _ := cmd.Output()
		if s := cmd.ProcessState.ExitCode(); s != c.status || strings.TrimSpace(string(out)) != c.out {
			t.Errorf("%s: %d, %q", c.script, s, out)
		}
	}
	for _, c := range []struct{ pid, command, err string }{
		{fmt.Sprint(w.PID()), "/nowhere/to/be/found", "no such file"},
		{fmt.Sprint(w.PID()), "/proc/version", "permission denied"},
		{"4194999", "true", "there is no process 4194999"},
	} {
		cmd := command([]string{"/proc/self/exe", EnterCall, c.pid, "--", c.command})
		var errs bytes.Buffer
		cmd.Stderr = &errs
		_ = cmd.Run()
		if s := cmd.ProcessState.ExitCode(); s != proc.NotFound || !strings.Contains(errs.String(), c.err) || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%s: %d, %s", c.command, s, &errs)
		}
	}
}

// A command's own process comes after as many as the wire says.
func TestWrappersAreCounted(t *testing.T) {
	up(t, spec)
	for _, user := range []bool{false, true} {
		w, err := start(spec, user)
		if err != nil {
			t.Log(user, err) // this user makes no such namespaces
			continue
		}
		t.Cleanup(w.Down)
		if w.sides, err = w.hear(); err != nil {
			t.Fatal(err)
		}
		cmd := command(w.Server([]string{"sh", "-c", "echo up; exec sleep 300"}))
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = out.Read(make([]byte, 3))
		time.Sleep(100 * time.Millisecond)
		all := proc.Descendants(cmd.Process.Pid)
		if n := w.Wrappers(); len(all) != n+1 || proc.Command(all[n]) != "sleep" {
			t.Errorf("user namespace %v: %v, of which %d enter", user, all, n)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// The end of the entering process ends the command.
func TestACommandEndsWithItsParent(t *testing.T) {
	w := up(t, spec)
	cmd := command(w.Client([]string{"sh", "-c", "echo up; exec sleep 300"}))
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = out.Read(make([]byte, 3))
	_ = cmd.Process.Kill()
	_, _ = io.Copy(io.Discard, out) // ends when the command does
	_ = cmd.Wait()
}

func TestAWireThatTheKernelCannotMake(t *testing.T) {
	up(t, spec)
	for _, s := range []Spec{{}, {LineRateBps: 1e9}, {1e12, 1 << 18, 60}} {
		if w, err := Make(s); !errors.As(err, &Unavailable{}) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, %v", s, w, err)
		}
	}
}
