package contest

import (
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// lines are what the call prints: for each server but the first one line of
// verdict and three of figures, then the notes.
func lines(o *compare.Outcome) []string {
	var out []string
	for i, c := range o.Comparisons {
		out = append(out, c.Says)
		base, other := o.Servers[0], o.Servers[i+1]
		bound := bounds(base, other)
		if c.CPUPerRequest != nil {
			out = append(out, fmt.Sprintf("  CPU a request  %s; %s against %s; %s", c.CPUPerRequest,
				words.Time(other.CPUPerRequest), words.Time(base.CPUPerRequest), bound))
		}
		if c.OwnWork != "" {
			out = append(out, "  own work       "+c.OwnWork)
		}
		if c.Throughput != nil {
			out = append(out, fmt.Sprintf("  throughput     %s; %s against %s requests/s; %s", c.Throughput,
				words.Grouped(other.Throughput, 0), words.Grouped(base.Throughput, 0), bound))
		}
		if c.P50 != nil && c.P99 != nil {
			out = append(out, fmt.Sprintf("  latency        p50 %s, %s against %s; p99 %s, %s against %s; %s", c.P50,
				words.Time(other.P50), words.Time(base.P50), c.P99, words.Time(other.P99), words.Time(base.P99), bound))
		}
	}
	for _, n := range o.Notes {
		out = append(out, "note: "+n)
	}
	return out
}

// Seal fills in what the call prints, how it exits, and of which files the servers are.
func Seal(o *compare.Outcome) {
	o.Says, o.Exit = lines(o), o.Status()
	for i := range o.Servers {
		o.Servers[i].SHA256 = digest(o.Servers[i].Command)
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

// bounds says what limited two servers' trials.
func bounds(base, other compare.Measured) string {
	if base.Bound == other.Bound {
		return "bound: " + wall(base)
	}
	return fmt.Sprintf("bound: %s %s, %s %s", other.Name, wall(other), base.Name, wall(base))
}

// wall is a bound in words. A client that was full is said to be what was
// measured.
func wall(m compare.Measured) string {
	if m.Bound == "unknown" {
		return "unknown"
	}
	names := map[string]string{"server-cpu": "server CPU",
		"client-cpu": "client CPU, so throughput and latency are the client's", "wire": "the wire"}
	var out []string
	for _, b := range strings.Split(m.Bound, "+") {
		out = append(out, names[b])
	}
	return strings.Join(out, " and ")
}

// unlike is the share by which mean lengths of answers may differ without a word: bodies that
// vary have no more in common than their mean.
const unlike = 0.01

// doubts are what to know before relying on figures that do not fit each other.
func doubts(o *compare.Outcome) (notes []string) {
	for _, m := range o.Servers[1:] {
		if base := o.Servers[0]; m.ResponseBytes > 0 && base.ResponseBytes > 0 &&
			math.Abs(m.ResponseBytes/base.ResponseBytes-1) > unlike {
			notes = append(notes, fmt.Sprintf("an answer of %s has %s bytes with its head, one of %s %s", m.Name,
				words.Grouped(m.ResponseBytes, 0), base.Name, words.Grouped(base.ResponseBytes, 0)))
		}
	}
	if slices.ContainsFunc(o.Comparisons, func(c compare.Comparison) bool { return crossed(o, c) }) {
		notes = append(notes, "a ratio is taken within each block, and the two figures beside it over all blocks; where "+
			"the core changed its speed from block to block, as here, they need not fit each other")
	}
	return notes
}

// crossed reports whether the servers' own medians of cost lie the other way round
// than the median ratio of their blocks says.
func crossed(o *compare.Outcome, c compare.Comparison) bool {
	i := slices.IndexFunc(o.Servers, func(m compare.Measured) bool { return m.Name == c.Name })
	r := c.CPUPerRequest
	return r.Known() && (r.Low > 1 || r.High < 1) &&
		(r.Ratio-1)*(o.Servers[i].CPUPerRequest-o.Servers[0].CPUPerRequest) < 0
}
