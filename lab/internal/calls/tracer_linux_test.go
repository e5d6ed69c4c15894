package calls

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// role, set in the environment, makes this test binary a server or a tracer.
const role = "CALLS_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "server":
		serve(os.Getenv("CALLS_TEST_KIND"))
	case "tracer":
		pid, _ := strconv.Atoi(os.Getenv("CALLS_TEST_PID"))
		if _, err := Trace(only(pid), os.Getenv("CALLS_TEST_OWN") != ""); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("traces")
		select {}
	default:
		os.Exit(m.Run())
	}
}

// serve answers requests of one byte with one byte: each by one read, one write and one
// close that fails. It serves one connection in its first thread, one in another, or one
// in a process that it starts once it is told its port.
func serve(kind string) {
	runtime.LockOSThread()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	if err == nil {
		err = unix.Listen(fd, 8)
	}
	at, _ := unix.Getsockname(fd)
	if err != nil {
		panic(err)
	}
	answer := func() {
		runtime.LockOSThread()
		c, _, err := unix.Accept(fd)
		for b := make([]byte, 1); err == nil; {
			n := 0
			if n, err = unix.Read(c, b); n != 1 {
				break
			}
			_ = unix.Close(-1)
			_, err = unix.Write(c, b)
		}
		_ = unix.Close(c)
	}
	switch kind {
	case "killed":
		fmt.Println(at.(*unix.SockaddrInet4).Port)
		c, _, _ := unix.Accept(fd)
		_, _ = unix.Read(c, make([]byte, 1))
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
	case "child":
		if os.Getenv("CALLS_TEST_CHILD") != "" {
			fd = 3
			answer()
			return
		}
		fmt.Println(at.(*unix.SockaddrInet4).Port)
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // traced from here on
		child := exec.Command(os.Args[0])
		child.Env, child.ExtraFiles = append(os.Environ(), "CALLS_TEST_CHILD=1"), []*os.File{os.NewFile(uintptr(fd), "listener")}
		if err := child.Start(); err != nil {
			panic(err)
		}
		_ = child.Wait()
		time.Sleep(time.Hour)
	case "thread":
		done := make(chan struct{})
		fmt.Println(at.(*unix.SockaddrInet4).Port)
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		go func() {
			for {
				answer()
			}
		}()
		<-done
	default:
		fmt.Println(at.(*unix.SockaddrInet4).Port)
		for {
			answer()
		}
	}
}

// A server of this test's, and a connection to it.
type server struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	addr string
}

func start(t *testing.T, kind string, under ...string) *server {
	t.Helper()
	argv := append(under, os.Args[0])
	s := &server{cmd: exec.Command(argv[0], argv[1:]...)}
	s.cmd.Env = append(os.Environ(), role+"=server", "CALLS_TEST_KIND="+kind)
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		s.in, err = s.cmd.StdinPipe()
	}
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	s.addr = "127.0.0.1:" + strings.TrimSpace(line)
	return s
}

// ask asks n times on a connection of its own.
func (s *server) ask(t *testing.T, n int) {
	t.Helper()
	c, err := net.DialTimeout("tcp", s.addr, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	for b := make([]byte, 1); n > 0; n-- {
		_, err := c.Write([]byte{'x'})
		if err == nil {
			_, err = io.ReadFull(c, b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func only(pids ...int) func() []int { return func() []int { return pids } }

// trace traces a process, or skips the test where that is not permitted.
func trace(t *testing.T, pid int) *Tracer {
	t.Helper()
	tr, err := Trace(only(pid), true)
	if err != nil && !strings.Contains(err.Error(), "permitted in this container") {
		t.Fatal(err)
	} else if err != nil {
		t.Skip(err)
	}
	t.Cleanup(tr.Stop)
	return tr
}

func counts(t *testing.T, tr *Tracer) Counts {
	t.Helper()
	c, err := tr.Counts()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The few and the many requests of each kind of server differ by just the calls that
// requests need.
func TestCallsOfARequestAreCountedExactly(t *testing.T) {
	const few, many = 10, 60
	for _, kind := range []string{"alone", "thread"} {
		t.Run(kind, func(t *testing.T) {
			s := start(t, kind)
			tr := trace(t, s.cmd.Process.Pid)
			fmt.Fprintln(s.in)
			s.ask(t, 1)
			zero := counts(t, tr)
			s.ask(t, few)
			one := counts(t, tr)
			s.ask(t, many)
			two := counts(t, tr)
			per := two.Minus(one).Minus(one.Minus(zero))
			for _, name := range []string{"read", "write", "close"} {
				if got := per[name]; got != many-few {
					t.Errorf("%d %s for %d requests", got, name, many-few)
				}
			}
		})
	}
}

func TestProcessesThatAreStartedAreFollowed(t *testing.T) {
	s := start(t, "child")
	tr := trace(t, s.cmd.Process.Pid)
	before := counts(t, tr)
	fmt.Fprintln(s.in)
	s.ask(t, 40)
	after := counts(t, tr).Minus(before)
	if after["execve"] != 1 || after["write"] < 40 {
		t.Errorf("%v", after)
	}
}

func TestCountsAreThoseOfStrace(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	const n = 200
	s := start(t, "alone")
	tr := trace(t, s.cmd.Process.Pid)
	zero := counts(t, tr)
	s.ask(t, n)
	ours := counts(t, tr).Minus(zero)

	table := filepath.Join(t.TempDir(), "table")
	theirs := start(t, "alone", "strace", "-c", "-f", "-o", table, "-e", "trace=read,write,close,accept,accept4")
	theirs.ask(t, n)
	time.Sleep(50 * time.Millisecond)
	children, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", theirs.cmd.Process.Pid))
	child, bad := strconv.Atoi(strings.TrimSpace(string(children)))
	if err != nil || bad != nil {
		t.Skip("this kernel does not name a process's children")
	}
	_ = unix.Kill(child, unix.SIGKILL) // strace heeds no signal while its command runs
	_ = theirs.cmd.Wait()
	text, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	// What starting takes, strace has seen and this has not.
	write := regexp.MustCompile(`(?m) (\d+) +write$`).FindStringSubmatch(string(text))
	if write == nil || write[1] != strconv.FormatInt(ours["write"]+1, 10) { // and the line with its port
		t.Errorf("%d writes, and by strace %v in %s", ours["write"], write, text)
	}
}

func TestAServerThatDiesIsTold(t *testing.T) {
	s := start(t, "killed")
	tr := trace(t, s.cmd.Process.Pid)
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = c.Write([]byte{'x'})
	_, _ = c.Read(make([]byte, 1))
	if c, err := tr.Counts(); err == nil || !strings.Contains(err.Error(), "ended while its calls were counted") {
		t.Errorf("%v, %v", c, err)
	}
}

func TestAProcessThatIsTracedAlreadyIsRefused(t *testing.T) {
	s := start(t, "alone")
	trace(t, s.cmd.Process.Pid)
	tr, err := Trace(only(s.cmd.Process.Pid), false)
	if err == nil {
		tr.Stop()
	}
	if err == nil || !strings.Contains(err.Error(), "traces it already") {
		t.Errorf("%v", err)
	}
	s.ask(t, 3)
	if _, err := Trace(only(), false); err == nil {
		t.Error("nothing is traced")
	}
}

// Whichever way the tracer ends, a foreign process goes on, and one of its own does not.
func TestATracerThatIsKilledLeavesForeignProcessesAlone(t *testing.T) {
	for _, own := range []bool{false, true} {
		t.Run(fmt.Sprintf("own=%v", own), func(t *testing.T) {
			s := start(t, "alone")
			trace(t, s.cmd.Process.Pid).Stop()
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), role+"=tracer", "CALLS_TEST_PID="+strconv.Itoa(s.cmd.Process.Pid))
			if own {
				cmd.Env = append(cmd.Env, "CALLS_TEST_OWN=1")
			}
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			if line, _ := bufio.NewReader(out).ReadString('\n'); line != "traces\n" {
				_ = cmd.Wait()
				t.Skip(line)
			}
			s.ask(t, 5)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			if own {
				if err := s.cmd.Wait(); err == nil || err.Error() != "signal: killed" {
					t.Errorf("it ended with %v", err)
				}
				return
			}
			s.ask(t, 5)
		})
	}
}
