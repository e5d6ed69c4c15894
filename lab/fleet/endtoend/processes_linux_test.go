package endtoend

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Process is one inside the fleet, by its number outside.
type Process struct {
	PID  int
	Args []string

	began string // by the kernel, so that no other process is taken for it
}

func (p Process) String() string { return fmt.Sprintf("%d %s", p.PID, strings.Join(p.Args, " ")) }

// Program is the name of the program that the process runs, without its directory.
func (p Process) Program() string { return filepath.Base(p.Args[0]) }

// Processes are those on the hosts, without the zombies.
func (f *Fleet) Processes(hosts ...string) []Process {
	namespaces := map[string]bool{}
	for _, host := range hosts {
		if ns, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", f.pids[host])); err == nil {
			namespaces[ns] = true
		}
	}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	var found []Process
	for _, dir := range dirs {
		if ns, err := os.Readlink(dir + "/ns/pid"); err != nil || !namespaces[ns] {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		line, _ := os.ReadFile(dir + "/cmdline")
		began, ok := stat(pid)
		if args := strings.Split(string(bytes.TrimRight(line, "\x00")), "\x00"); ok && args[0] != "" {
			found = append(found, Process{pid, args, began})
		}
	}
	return found
}

// Running are the processes of a program on a host, by the program's name or, for a
// script, by that of its first argument.
func (f *Fleet) Running(host, program string) []Process {
	return slices.DeleteFunc(f.Processes(host), func(p Process) bool {
		return p.Program() != program && (len(p.Args) < 2 || filepath.Base(p.Args[1]) != program)
	})
}

// Seen is where this process finds a path as a host has it, whatever is mounted there.
func (f *Fleet) Seen(host, path string) string {
	return fmt.Sprintf("/proc/%d/root%s", f.pids[host], path)
}

// lives tells whether the process still runs.
func (p Process) lives() bool {
	began, ok := stat(p.PID)
	return ok && began == p.began
}

// stat is when a process began; false if it has ended or is a zombie.
func stat(pid int) (began string, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", false
	}
	const state, start = 0, 19 // after the name, which may hold anything
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	return fields[start], fields[state] != "Z" && fields[state] != "X"
}
