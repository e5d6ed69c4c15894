package probe

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func captured(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Both files are what the tools wrote of one fiber_server under load.
func TestWhatTheToolsWriteIsRead(t *testing.T) {
	perf, err := parsePerf(captured(t, "perf-6.1.txt"))
	if err != nil {
		t.Fatal(err)
	}
	// By hand: 521987 less the sum of the named ones is 126.
	want := Counts{
		"read": 289405, "write": 145017, "epoll_pwait": 67810, "epoll_ctl": 40, "futex": 7486,
		"nanosleep": 10305, "sched_yield": 1753, "accept4": 25, "close": 20, Other: 126,
	}
	if !maps.Equal(perf, want) || perf.Total() != 521987 {
		t.Errorf("perf: %v, total %d", perf, perf.Total())
	}
	strace, err := parseStrace(captured(t, "strace-6.1.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if strace["read"] != 97923 || strace["write"] != 86884 || strace["setsockopt"] != 100 || strace.Total() != 190258 {
		t.Errorf("strace: %v, total %d", strace, strace.Total())
	}
	if _, ok := strace["total"]; ok {
		t.Error("the sum is taken for a call")
	}
}

func TestNoCallIsNoFault(t *testing.T) {
	if c, err := parseStrace(""); err != nil || c == nil || c.Total() != 0 {
		t.Errorf("strace: %v, %v", c, err)
	}
	if c, err := parsePerf("0,,raw_syscalls:sys_enter,10,100.00,,\n"); err != nil || c.Total() != 0 {
		t.Errorf("perf: %v, %v", c, err)
	}
}

func TestAReportThatIsNotWholeIsRefused(t *testing.T) {
	table := captured(t, "strace-6.1.txt")
	for name, text := range map[string]string{
		"cut short":           table[:strings.LastIndex(table, "------")],
		"a row left out":      strings.Replace(table, "epoll_ctl\n", "\n", 1),
		"a count of words":    strings.Replace(table, "97923", "many", 1),
		"a line of one word":  strings.Replace(table, "------ -", "lost\n------ -", 2),
		"a sum of other rows": strings.Replace(table, "190258", "190259", 1),
	} {
		if c, err := parseStrace(text); err == nil {
			t.Errorf("strace, %s: %v", name, c)
		}
	}
	for name, text := range map[string]string{
		"empty":             "",
		"no total":          "1,,syscalls:sys_enter_read,10,100.00,,\n",
		"not counted":       "<not counted>,,raw_syscalls:sys_enter,0,100.00,,\n",
		"not supported":     "9,,raw_syscalls:sys_enter,10,100.00,,\n<not supported>,,syscalls:sys_enter_read,0,100.00,,\n",
		"part of the time":  "9,,raw_syscalls:sys_enter,10,50.00,,\n",
		"more than all":     "1,,raw_syscalls:sys_enter,10,100.00,,\n2,,syscalls:sys_enter_read,10,100.00,,\n",
		"another delimiter": "9;;raw_syscalls:sys_enter;10;100.00;;\n",
	} {
		if c, err := parsePerf(text); err == nil {
			t.Errorf("perf, %s: %v", name, c)
		}
	}
}
