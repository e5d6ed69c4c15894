package contest

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strings"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/tell"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// Seal fills in what the call prints, how it exits, and of which files the servers are.
func Seal(o *compare.Outcome) {
	o.Says, o.Exit = tell.Lines(o), o.Status()
	for i := range o.Servers {
		if s := &o.Servers[i]; s.Revision == "" { // else its files lay in a worktree, and the commit says all
			s.SHA256 = digest(s.Command)
		}
	}
}

// digest is that of all files that a command names, the program and perhaps its script; empty
// where there are none.
func digest(command []string) string {
	var sums []string
	for i, word := range command {
		if at, err := exec.LookPath(word); i == 0 && err == nil {
			word = at
		}
		if info, err := os.Stat(word); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if sum, err := host.Digest(word); err == nil {
			sums = append(sums, sum)
		}
	}
	if len(sums) < 2 {
		return strings.Join(sums, "")
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(sums, "\n"))))
}

// unlike is the share by which mean lengths of answers may differ without a word: bodies that
// vary have no more in common than their mean.
const unlike = 0.01

// doubts are what to know before relying on figures that do not fit each other.
func doubts(o *compare.Outcome) (notes []string) {
	crossed := false
	for i, c := range o.Comparisons {
		m, base := o.Servers[i+1], o.BaseOf(i)
		if m.ResponseBytes > 0 && base.ResponseBytes > 0 && math.Abs(m.ResponseBytes/base.ResponseBytes-1) > unlike {
			notes = append(notes, fmt.Sprintf("an answer of %s has %s bytes with its head, one of %s %s", m.Name,
				words.Grouped(m.ResponseBytes, 0), base.Name, words.Grouped(base.ResponseBytes, 0)))
		}
		// The servers' own medians of cost may lie the other way round than the median ratio of their blocks says.
		if r := c.CPUPerRequest; r.Known() && (r.Low > 1 || r.High < 1) {
			crossed = crossed || (r.Ratio-1)*(m.CPUPerRequest-base.CPUPerRequest) < 0
		}
	}
	if crossed {
		notes = append(notes, "a ratio is taken within each block, and the two figures beside it over all blocks; where "+
			"the core changed its speed from block to block, as here, they need not fit each other")
	}
	return notes
}
