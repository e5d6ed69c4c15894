package proc

import (
	"net"
	"os"
	"os/exec"
	"slices"
	"testing"
)

// It reports each server's processes separately, in the order asked for. An ended process is
// missing, and the others are still there.
func TestCensusOfSeveralProcesses(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("this machine has no IPv6")
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	other := exec.Command("sleep", "60")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	h := census(Listening{[]int{os.Getpid(), ended.Process.Pid, other.Process.Pid}, port})
	if len(h.Processes) != 2 {
		t.Fatalf("%+v", h)
	}
	if h.Connections != 1 || h.Processes[0].Connections != 1 || h.Processes[1].Connections != 0 ||
		h.Processes[1].Threads != 1 {
		t.Errorf("%+v, want one connection of the first", h)
	}
	_ = other.Process.Kill()
	_ = other.Wait()
	// Ended processes hold nothing, even if listed first.
	if h := census(Listening{[]int{ended.Process.Pid, os.Getpid()}, port}); len(h.Processes) != 1 || h.Connections != 1 {
		t.Errorf("%+v", h)
	}
}

// Only established connections count, not one that its client has closed.
func TestCensusLeavesOutWhatIsEnded(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c.Close()
	if _, err := s.Read(make([]byte, 1)); err == nil {
		t.Fatal("it goes on")
	}
	if h := census(Listening{[]int{os.Getpid()}, l.Addr().(*net.TCPAddr).Port}); h.Connections != 0 {
		t.Errorf("%+v", h)
	}
}

// connected gives the port of a listener with n connections; this process holds
// both ends of each until the test ends.
func connected(t *testing.T, n int) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	for range n {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		s, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
	}
	return l.Addr().(*net.TCPAddr).Port
}

func census(s Listening) Held { return Census(s)[0] }

// Ports tell servers apart that are up at once, and each counts only what its own processes hold.
func TestACensusOfSeveralServers(t *testing.T) {
	var ports []int
	for n := range 3 {
		ports = append(ports, connected(t, n))
	}
	own := []int{os.Getpid()}
	all := Census(Listening{own, ports[0]}, Listening{own, ports[1]}, Listening{nil, ports[1]}, Listening{own, ports[2]},
		Listening{[]int{os.Getppid()}, ports[2]})
	for i, want := range []int{0, 1, 0, 2, 0} {
		if all[i].Connections != want {
			t.Errorf("server %d: %d connections, want %d", i+1, all[i].Connections, want)
		}
	}
}

func TestAProcessListensOnWhatItListens(t *testing.T) {
	var want []string
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Skip("this machine has no IPv6")
		}
		defer l.Close()
		c, err := net.Dial("tcp", l.Addr().String()) // a connection of its own port is not listed
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		want = append(want, l.Addr().String())
	}
	var got []string
	for _, l := range Listens([]int{os.Getpid()}) {
		got = append(got, l.String())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
