package certify

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/stats"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/tell"
)

// Version is that of the schema of a Certificate.
const Version = 1

// Longest is the most bytes that a certificate may have.
const Longest = 256 << 10

// A Certificate is what a table says, and what was measured of that.
type Certificate struct {
	Number        string           `json:"number,omitempty"` // digest of all that follows
	SchemaVersion int              `json:"schema_version"`
	Table         string           `json:"table"` // name of its file
	TableSHA256   string           `json:"table_sha256"`
	Experiment    string           `json:"experiment_sha256"` // of the file that was measured
	Claims        []Claim          `json:"claims"`
	Outcome       *compare.Outcome `json:"outcome"`
}

// Seal numbers a certificate by its digest.
func (c *Certificate) Seal() error {
	c.Number = ""
	text, err := json.Marshal(c)
	c.Number = fmt.Sprintf("%.12x", sha256.Sum256(text))
	return err
}

// Badge says how many claims came to each verdict. Its colour is that of the worst.
func (c *Certificate) Badge() tell.Badge {
	b := tell.Badge{SchemaVersion: 1, Label: "claims measured"}
	var says []string
	for _, v := range [][2]string{{Reproduced, "brightgreen"}, {Inconclusive, "lightgrey"}, {Refuted, "red"}} {
		if n := strict.Count(c.Claims, func(c Claim) bool { return c.Verdict == v[0] }); n > 0 {
			says, b.Color = append(says, fmt.Sprintf("%d %s", n, v[0])), v[1]
		}
	}
	b.Message = strings.Join(says, ", ")
	return b
}

// Read reads a certificate and holds it against itself: its number against all else, each claim against what
// was printed, each interval against its blocks, and each verdict against the intervals.
func Read(data []byte) (*Certificate, error) {
	c := &Certificate{}
	if err := strict.DecodeJSON(data, c); err != nil {
		return nil, strict.Mistyped(err, data)
	}
	var doc any
	if err := errors.Join(json.Unmarshal(data, &doc), strict.CheckTexts(doc, "")); err != nil {
		return nil, err
	}
	switch {
	case c.SchemaVersion != Version:
		return nil, fmt.Errorf("/schema_version: %d, which this lab does not read", c.SchemaVersion)
	case c.Outcome == nil || len(c.Claims) == 0:
		return nil, errors.New("/claims, /outcome: it certifies nothing")
	}
	if c.Outcome.Confidence != stats.Confidence || len(c.Outcome.Comparisons) != len(c.Outcome.Servers)-1 {
		return nil, fmt.Errorf("/outcome/confidence: %v, of %d comparisons", c.Outcome.Confidence, len(c.Outcome.Comparisons))
	}
	number := c.Number
	if err := c.Seal(); err != nil || c.Number != number {
		return nil, fmt.Errorf("/number: %q, and the digest of the rest is %s", number, c.Number)
	}
	for i, of := range c.Outcome.Comparisons {
		if err := follows(of.Throughput, stats.Alpha/float64(len(c.Outcome.Comparisons))); err != nil {
			return nil, fmt.Errorf("/outcome/comparisons/%d/throughput_rps: %w", i, err)
		}
	}
	for i, was := range c.Claims {
		if err := was.whole(); err != nil {
			return nil, fmt.Errorf("/claims/%d%w", i, err)
		}
		for n, level := range was.Levels {
			of, _ := strict.First(c.Outcome.Servers, func(m compare.Measured) bool { return m.Name == was.Of[n] })
			if level != map[string]int{loads[0]: of.Connections, loads[1]: of.Pipelining}[was.Over] {
				return nil, fmt.Errorf("/claims/%d/levels/%d: %d, which is not what %s was measured with", i, n, level, was.Of[n])
			}
		}
		now := was
		if now.Judge(c.Outcome); now.Verdict != was.Verdict {
			return nil, fmt.Errorf("/claims/%d/verdict: %q, and its figures say %q", i, was.Verdict, now.Verdict)
		} else if now.Says != was.Says {
			return nil, fmt.Errorf("/claims/%d/says: its figures say %q", i, now.Says)
		}
	}
	return c, nil
}

// whole refuses a claim that does not fit what was printed.
func (c *Claim) whole() error {
	n := len(c.Of)
	switch {
	case n < 2 || c.Over == server && n+len(c.Levels) != 2 || c.Over != server && n != len(c.Levels):
		return fmt.Errorf("/of: %d conditions", n)
	case len(c.Printed) != n || slices.ContainsFunc(c.Printed, func(q law.Quantity) bool { return q.Low <= 0 || q.Low > q.High }):
		return errors.New("/printed_rps: a rate above 0 for each condition")
	case !slices.Contains(append(loads[:], server), c.Over):
		return fmt.Errorf("/over: %q", c.Over)
	}
	if is := shape(c.Printed); is != c.Kind {
		return fmt.Errorf("/kind: %q, and what was printed says %q", c.Kind, is)
	}
	return nil
}

// follows refuses an interval that is not that of its blocks, but for rounding.
func follows(r *compare.Ratio, level float64) error {
	if r == nil {
		return nil
	}
	least, most := compare.Bounds(r.Each)
	again := compare.Over(least, most, level)
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-4*math.Abs(a) }
	if again == nil || !near(again.Ratio, r.Ratio) || !near(again.Low, r.Low) || !near(again.High, r.High) {
		return errors.New("the interval is not that of its blocks")
	}
	return nil
}
