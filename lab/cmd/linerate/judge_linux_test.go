package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/certify"
	"github.com/line-rate/line-rate/lab/internal/contest"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/run"
)

// The test's program is linerate to what it starts, and a server that sleeps before each answer: four connections
// get four times as many of them as one, whatever the machine is.
func TestMain(m *testing.M) {
	for _, called := range []func([]string) (int, bool){run.Called, contest.Called} {
		if status, is := called(os.Args[1:]); is {
			os.Exit(status)
		}
	}
	if len(os.Args) == 3 && os.Args[1] == "sleeps" {
		http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
			_ = syscall.Nanosleep(&syscall.Timespec{Nsec: 200_000}, nil) // time.Sleep takes a millisecond
			w.Write([]byte("hello"))
		})
		panic(http.ListenAndServe(os.Args[2], nil))
	}
	os.Exit(m.Run())
}

// Trials may be refused, which leaves the claim open; but it is true, and never refuted. Beside other tests a block
// can be too long for its budget.
func TestAloneAClaimOverConnectionsIsMeasured(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures for some seconds")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const claimed = "a answers more requests a second with more connections, from 1 to 4"
	dir := t.TempDir()
	table, file := filepath.Join(dir, "t.csv"), filepath.Join(dir, "asked.toml")
	if err := os.WriteFile(table, []byte("name,connections,rps\na,1,700.0\na,4,2800.0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	status, out, errs := called("judge", table, "--test", "a="+self+" sleeps {addr}", "--budget", "80s",
		"--experiment", file, "--certificate", dir)
	if status > 2 || !strings.Contains(out, "claimed: "+claimed+"\n") || strings.Contains(out, certify.Refuted+": ") {
		t.Fatalf("exit %d\n%s%s", status, out, errs)
	}
	asked, err := os.ReadFile(file)
	if err != nil || !strings.Contains(out, string(asked)) {
		t.Errorf("%v: what was shown is not in the file\n%s", err, asked)
	}
	if x, err := experiment.Parse("asked", asked); err != nil || len(x.Conditions()) != 2 || x.Claims[0].Text != claimed+"." {
		t.Errorf("%v\n%s", err, asked)
	}
	number := regexp.MustCompile("certificate ([0-9a-f]+) is in").FindStringSubmatch(out)
	if number == nil {
		t.Fatal(out)
	}
	text, err := os.ReadFile(filepath.Join(dir, number[1]+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if of, err := certify.Read(text); err != nil || of.Number != number[1] {
		t.Errorf("%v\n%s", err, text)
	}
	if strings.Contains(string(text), filepath.Dir(self)) {
		t.Errorf("it names a directory\n%s", text)
	}
}
