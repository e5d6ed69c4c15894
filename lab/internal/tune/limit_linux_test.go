package tune

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Lowering a process's limit of open files needs no namespace and no root.
func TestRealLimitOfOpenFiles(t *testing.T) {
	t.Setenv("LINE_RATE_STATE", t.TempDir()+"/state")
	t.Setenv(treeVariable, "")
	cmd := exec.Command("sh", "-c", "ulimit -n 512 && ulimit -Sn 256 && echo ready && exec cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); _ = cmd.Wait() }()
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatal(line)
	}
	pid := strconv.Itoa(cmd.Process.Pid)
	limit := func() string {
		var l unix.Rlimit
		if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_NOFILE, nil, &l); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d %d", l.Cur, l.Max)
	}
	must(t, "nofile", "apply", "--pid", pid, "--limit", "512")
	if got := limit(); got != "512 512" {
		t.Errorf("it is %s", got)
	}
	must(t, "nofile", "apply", "--pid", pid, "--limit", "300")
	must(t, "nofile", "restore")
	if got := limit(); got != "256 512" {
		t.Errorf("restored is %s", got)
	}
	h := hold(t, "nofile", "hold", "--pid", pid, "--limit", "400")
	if got := limit(); got != "400 512" {
		t.Errorf("held is %s", got)
	}
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	within(t, "it is back", func() bool { return limit() == "256 512" })
	within(t, "nothing is held", func() bool { return strings.Contains(must(t, "show"), "no originals") })
	if !realRoot(capSysResource) {
		if _, _, err := lab("nofile", "apply", "--pid", pid, "--limit", "1024"); err == nil || !strings.Contains(err.Error(), "needs root: run with sudo (/proc/"+pid+"/limits") {
			t.Errorf("%v", err)
		}
		return
	}
	must(t, "nofile", "apply", "--pid", pid, "--limit", "2048")
	if got := limit(); got != "2048 2048" {
		t.Errorf("raised is %s", got)
	}
	must(t, "restore")
	if got := limit(); got != "256 512" {
		t.Errorf("restored is %s", got)
	}
	in.Close()
	_ = cmd.Wait()
	if _, _, err := lab("nofile", "--pid", pid); err == nil || !strings.Contains(err.Error(), "there is no process "+pid) {
		t.Errorf("%v", err)
	}
}

// A hold's default is the process that called it, not the lab's own.
func TestTheDefaultOfNofileIsTheCaller(t *testing.T) {
	t.Setenv("LINE_RATE_STATE", t.TempDir()+"/state")
	t.Setenv(treeVariable, "")
	for _, action := range []string{"apply", "hold"} {
		cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -n 512; ulimit -Sn 256; echo $$; "%s" tune nofile %s --limit 300 </dev/null >/dev/null; ulimit -n; "%s" tune show; "%s" tune restore`, os.Args[0], action, os.Args[0], os.Args[0]))
		cmd.Env = process().Env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		lines := strings.Split(string(out), "\n")
		if want := map[string]string{"apply": "300", "hold": "256"}[action]; lines[1] != want {
			t.Errorf("%s:\n%s", action, out)
		}
		if action == "apply" && !strings.Contains(string(out), "/proc/"+lines[0]+"/limits") {
			t.Errorf("not the caller's:\n%s", out)
		}
	}
}
