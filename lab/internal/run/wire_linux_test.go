package run

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/wire"
)

const shaped = "kind = \"netns\"\nline_rate_bps = 100_000_000\nburst_bytes = 262_144\nqueue_s = 0.02"

// needsWire skips a test where none can be made.
func needsWire(t *testing.T) {
	if none, ok := errors.AsType[wire.Unavailable](wireHere()); ok {
		t.Skip(none)
	}
}

// A wire that ends by itself ends the run.
func TestAWireThatIsGone(t *testing.T) {
	t.Parallel()
	needsWire(t)
	p := newPlace(t)
	x := design{topology: shaped, block: longBlock.block}.parse(t)
	r := p.start(x)
	killed := p.whileLoaded(func() {
		for _, pid := range p.children("exe") { // the wrappers of both sides name that which they enter
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			words := strings.Split(string(line), "\x00")
			if at := slices.Index(words, wire.EnterCall); at >= 0 {
				side, _ := strconv.Atoi(words[at+1])
				_ = syscall.Kill(side, syscall.SIGKILL)
				return
			}
		}
	})
	_, err := r.Block(t.Context())
	<-killed
	if err == nil || !strings.Contains(err.Error(), "the wire between server and client is gone") || len(r.File.Trials) > 0 {
		t.Errorf("%v, %v", r.File.Trials, err)
	}
	p.nothingRuns(t)
}
