package main

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/line-rate/line-rate/lab/internal/profile"
)

// profiled starts a server with pprof on, waits for so many lines that say that something
// listens, and returns its command and those lines.
func profiled(t *testing.T, lines int, args ...string) (*exec.Cmd, []string) {
	t.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	ln.Close()
	cmd := exec.Command(serverBinary, append([]string{"--addr=" + addr}, args...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 100)
	go func() {
		defer close(said)
		for in := bufio.NewScanner(stderr); in.Scan(); {
			if strings.Contains(in.Text(), " listening addr=") {
				said <- in.Text()
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		for range said {
		}
		_ = cmd.Wait()
	})
	var got []string
	for len(got) < lines {
		select {
		case line, ok := <-said:
			if !ok {
				t.Fatal("the server ended")
			}
			got = append(got, line)
		case <-time.After(20 * time.Second):
			t.Fatalf("the server only said %q", got)
		}
	}
	return cmd, got
}

// closedDir is a directory for sockets: its path is short, and only its owner may enter
// it.
func closedDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "p")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// beingTaken reports whether profiles of all kinds are being taken of each process that has
// a socket in a directory: each process then has a connection.
func beingTaken(t *testing.T, dir string) bool {
	t.Helper()
	table, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]int{}
	for line := range strings.Lines(string(table)) {
		const connected = "03"
		// Num RefCount Protocol Flags Type St Inode Path
		if f := strings.Fields(line); len(f) == 8 && f[5] == connected {
			open[filepath.Base(f[7])]++ // the server may have got the directory under another path
		}
	}
	names := slices.DeleteFunc(dirNames(dir), func(name string) bool { return filepath.Ext(name) != ".sock" })
	return len(names) > 0 && !slices.ContainsFunc(names,
		func(name string) bool { return open[name] == 0 })
}

// labProfile runs the command and returns what it printed and its exit status.
func labProfile(t *testing.T, args ...string) (out, errs string, status int) {
	t.Helper()
	var o, e bytes.Buffer
	cmd := exec.Command(labBinary, append([]string{"profile"}, args...)...)
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// dirNames lists a directory; one that does not exist is empty.
func dirNames(dir string) []string {
	entries, _ := os.ReadDir(dir)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestProfileOfSocketsAndOfAnAddress(t *testing.T) {
	t.Parallel()
	sockets := closedDir(t)
	profiled(t, 4, "--pprof-sockets="+sockets)
	_, lines := profiled(t, 2, "--pprof", "--pprof-addr=127.0.0.1:0")
	_, addr, _ := strings.Cut(lines[0], "addr=")

	for _, c := range []struct {
		from  []string
		first string
	}{
		{[]string{"--from", sockets}, "2 processes, a window of 1s "},
		{[]string{"--from", "http://" + addr}, "1 process, a window of 1s "},
		{[]string{"--from=" + sockets, "--from=http://" + addr}, "3 processes, a window of 1s "},
		{[]string{"--from", filepath.Join(sockets, dirNames(sockets)[0])}, "1 process, "},
	} {
		root := t.TempDir()
		dir := filepath.Join(root, "out")
		out, errs, status := labProfile(t, append(c.from, "--seconds=1", "--out", dir)...)
		if status != exitHeld || !strings.HasPrefix(out, c.first) {
			t.Errorf("%v: status %d, %s%s", c.from, status, errs, out)
			continue
		}
		for _, k := range profile.Kinds() {
			if !strings.Contains(out, "\n"+string(k)+": ") {
				t.Errorf("%v: no table of %s in:\n%s", c.from, k, out)
			}
			data, err := os.ReadFile(filepath.Join(dir, string(k)+".pb.gz"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := pprof.ParseData(data); err != nil {
				t.Errorf("%v: %s: %v", c.from, k, err)
			}
		}
		// A log gets plain lines.
		if strings.Contains(errs, "\r") || !strings.HasPrefix(errs, "profiles of ") {
			t.Errorf("%v: the log is %q", c.from, errs)
		}
		if got := dirNames(root); len(got) != 1 {
			t.Errorf("%v: left %v", c.from, got)
		}
	}
}

// Whichever way it ends, it leaves no incomplete file.
func TestAProfileThatIsBrokenOffLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, breakOff := range map[string]func(lab, server *os.Process) error{
		"nothing was written": func(_, server *os.Process) error { return server.Kill() },
		"interrupted":         func(lab, _ *os.Process) error { return lab.Signal(syscall.SIGINT) },
	} {
		sockets := closedDir(t)
		server, _ := profiled(t, 4, "--pprof-sockets="+sockets)
		root := t.TempDir()
		var errs bytes.Buffer
		cmd := exec.Command(labBinary, "profile", "--from", sockets, "--seconds", "300", "--out", filepath.Join(root, "out"))
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, "the profiles are being taken", func() bool { return beingTaken(t, sockets) })
		if err := breakOff(cmd.Process, server.Process); err != nil {
			t.Fatal(err)
		}
		hung := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		hung.Stop()
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		last := lines[len(lines)-1]
		if cmd.ProcessState.ExitCode() != exitFailed || !strings.HasPrefix(last, "lab: profile: ") ||
			!strings.Contains(last, name) {
			t.Errorf("%s: status %d, %q", name, cmd.ProcessState.ExitCode(), lines)
		}
		if got := dirNames(root); len(got) > 0 {
			t.Errorf("%s: left %v", name, got)
		}
	}
}

func TestProfileRefusals(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	empty, full, file := closedDir(t), filepath.Join(root, "full"), filepath.Join(root, "file")
	if err := errors.Join(os.MkdirAll(filepath.Join(full, "x"), 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(root, "out")
	url := "http://127.0.0.1:1"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"06-irq", "--seconds", "5"}, "give --from, or leave it out"},
		{[]string{"--from", url, "--out", out, "--port", "1"}, "--from and --port can't be used together"},
		{nil, "name an experiment, or a server that runs with --from"},
		{[]string{"--from", url}, "--out is missing"},
		{[]string{"--from", url, "--out", out, "--seconds", "0"}, "--seconds 0; give a whole number from 1 to 600"},
		{[]string{"--from", url, "--out", out, "--seconds", "601"}, "--seconds 601"},
		{[]string{"--from", url, "--out", out, "--seconds", "1.5"}, "see lab help"},
		{[]string{"--from", url, "--out", full}, "is not empty"},
		{[]string{"--from", url, "--out", file}, "is not a directory"},
		{[]string{"--from", "http://192.0.2.1:6060", "--out", out}, "ssh -N -L"},
		{[]string{"--from", empty, "--out", out}, "no process serves pprof there"},
		{[]string{"--from", file, "--out", out}, "neither a directory nor a socket"},
		{[]string{"--from", filepath.Join(root, "none"), "--out", out}, "no such directory"},
		{[]string{"--from", url, "--out", out}, "http://127.0.0.1:1: connect: connection refused"},
		{[]string{"06-irq", "--from", url, "--out", out}, `unexpected argument "06-irq"`},
	} {
		stdout, errs, status := labProfile(t, c.args...)
		lines := strings.Split(strings.TrimSpace(errs), "\n")
		if status != exitFailed || stdout != "" || !strings.Contains(lines[len(lines)-1], c.want) || len(lines) > 2 {
			t.Errorf("%v: status %d, %s%s", c.args, status, errs, stdout)
		}
	}
	if got := dirNames(root); !slices.Equal(got, []string{"file", "full"}) {
		t.Errorf("left %v", got)
	}
}
