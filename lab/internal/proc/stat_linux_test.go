package proc

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

// A line as the kernel writes it, with a name that looks like more fields.
const line = "1234 (a) R 9 (b) S 77 1234 1234 0 -1 4194560 10 20 0 0 150 50 30 20 20 0 7 0 999 123456 25 " +
	"18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0 0 0 0 0 0 0 0 0\n"

func TestStatIsReadBehindTheName(t *testing.T) {
	got, err := parseStat([]byte(line))
	want := Stat{Name: "a) R 9 (b", State: 'S', Parent: 77, Children: 50, Threads: 7, Began: 999,
		RSS: 25 * os.Getpagesize()}
	if err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func TestStatRefusesWhatIsNone(t *testing.T) {
	for _, text := range []string{"", "1 sh S", ")(", "1 (sh)", "1 (sh) S 1 2"} {
		if s, err := parseStat([]byte(text)); err == nil {
			t.Errorf("%q became %+v", text, s)
		}
	}
}

func TestStatOfThisProcess(t *testing.T) {
	s, err := ReadStat(os.Getpid())
	if err != nil || s.Parent != os.Getppid() || s.Threads < 1 || s.RSS <= 0 || s.State == 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestClocksGoOn(t *testing.T) {
	process, ok := Time(os.Getpid())
	if !ok {
		t.Fatal("the clock of this very process cannot be read")
	}
	for n := 0; n < 1e7; n++ {
		_ = os.Getpid
	}
	if later, _ := Time(os.Getpid()); later <= process {
		t.Errorf("it went from %v to %v", process, later)
	}
}

func TestOneThatHasEndedHasNoClock(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Skip(err)
	}
	if v, ok := Time(cmd.Process.Pid); ok {
		t.Errorf("%v", v)
	}
}

// The kernel's threads work for the senders of packets, so they are no other processes; nor is a
// known tree.
func TestOthersAreProcessesAlone(t *testing.T) {
	if Command(kthreadd) != "kthreadd" {
		t.Skip("this process does not see all of the machine's")
	}
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	all, known := &Others{}, &Others{Roots: []int{os.Getpid()}}
	before, _ := all.Read()
	time.Sleep(200 * time.Millisecond)
	after, ok := all.Read()
	if spent := after[cmd.Process.Pid] - before[cmd.Process.Pid]; !ok || spent <= 0 {
		t.Errorf("a process that runs used %v", spent)
	}
	for pid := range after {
		if s, err := ReadStat(pid); err == nil && (pid == kthreadd || s.Parent == kthreadd) {
			t.Errorf("%s is a thread of the kernel", s.Name)
		}
	}
	if _, own := after[os.Getpid()]; !own {
		t.Error("this process is not among all")
	}
	rest, _ := known.Read()
	for _, pid := range []int{os.Getpid(), cmd.Process.Pid} {
		if _, listed := rest[pid]; listed || len(rest) == 0 {
			t.Errorf("%d is of a known tree; others are %d", pid, len(rest))
		}
	}
}
