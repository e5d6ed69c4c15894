package session

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
)

// victimRoot names the variable with the workshop in which a lab runs until it is killed.
const victimRoot = "LINE_RATE_TEST_VICTIM"

// victim makes runs of two experiments in turns until it is killed, and reports each complete block.
func victim(root string) {
	began, err := strconv.ParseInt(os.Getenv(victimRoot+"_AT"), 10, 64)
	if err != nil {
		panic(err)
	}
	// Nobody sees this test's failures; the other notices them by what is missing.
	w := &workshop{t: &testing.T{}, root: journal.Root(root), log: os.DevNull, at: time.Unix(began, 0)}
	for {
		s := w.session(Options{Budget: 10 * time.Minute, Anew: true}) // without git no run counts
		if err := s.tidy(); err != nil {
			panic(err)
		}
		var last *run.Run
		report := func() {
			if last != nil {
				fmt.Println("complete", last.File.Run, last.File.Provenance.Blocks)
			}
		}
		s.block = func(r *run.Run, ctx context.Context) ([]results.Trial, error) {
			report() // the file has the block before by now
			last = r
			return w.block(r, ctx)
		}
		if _, err := s.Measure(context.Background(), s.j.Experiments, io.Discard); err != nil {
			fmt.Println("fault", err)
			os.Exit(1)
		}
		report()
	}
}

func TestAKillLosesNoCompleteBlock(t *testing.T) {
	w := newWorkshop(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	complete := map[string]int{}
	for i := range 15 {
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), victimRoot+"="+string(w.root),
			fmt.Sprintf("%s_AT=%d", victimRoot, w.at.Add(time.Duration(i)*20*time.Minute).Unix()))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for first := true; lines.Scan(); first = false {
			var run string
			var n int
			if _, err := fmt.Sscanf(lines.Text(), "complete %s %d", &run, &n); err != nil {
				t.Errorf("the victim: %s", lines.Text())
				break
			}
			complete[run] = max(complete[run], n)
			if first { // at any moment within the next blocks and the end of a run
				time.AfterFunc(time.Duration(rand.Int64N(int64(60*time.Millisecond))), func() { _ = cmd.Process.Kill() })
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if errs.Len() > 0 {
			t.Fatalf("%s", &errs)
		}
		// What lies in data/ is in order, and the next call removes what was half written.
		if err := w.session(Options{}).tidy(); err != nil {
			t.Fatal(err)
		}
	}
	runs := w.inOrder()
	have := map[string]int{}
	for _, f := range runs {
		have[f.Run] = f.Provenance.Blocks
	}
	for run, n := range complete {
		if have[run] < n {
			t.Errorf("%s: %d blocks are kept, and %d were complete", run, have[run], n)
		}
	}
}
