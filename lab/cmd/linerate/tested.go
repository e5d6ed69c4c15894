package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/contest"
	"github.com/line-rate/line-rate/lab/internal/law"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// trying is how what a table says of servers is measured here. Only what needs no absolute figure is: which
// of two answers more requests a second, with as many connections.
type trying struct {
	Test        []string      `placeholder:"NAME=COMMAND" sep:"none" help:"Measure here whether a server answers more than another, as the table says; give it for each of two or more servers, by the names of their rows."`
	URL         string        `name:"url" default:"/" placeholder:"PATH" help:"With --test: path that is asked (default /)."`
	Budget      time.Duration `default:"60s" placeholder:"DURATION" help:"With --test: the longest that is measured (default 60s)."`
	Certificate string        `placeholder:"FILE" help:"With --test: write claims, figures and verdicts to a file, with a number by which it can be told from any other."`
	HTML        string        `name:"html" placeholder:"FILE" help:"With --test: also write a page."`
	Badge       string        `placeholder:"FILE" help:"With --test: also write a badge for shields.io."`
}

// A claim is that one server of a table answers so many times as many requests a second as another.
type claim struct {
	Over    string  `json:"over"`
	Base    string  `json:"base"`
	Row     string  `json:"row,omitempty"` // what the rows of both have in common
	Printed float64 `json:"printed_ratio"`
	Verdict string  `json:"verdict"`
	Says    string  `json:"says"`
}

// A tested is a certificate.
type tested struct {
	Number  string           `json:"number,omitempty"` // digest of all that follows
	Table   string           `json:"table_sha256"`
	Claims  []claim          `json:"claims"`
	Outcome *compare.Outcome `json:"outcome"`
}

// A rated row is one with a rate.
type rated struct {
	name, rest  string
	rate        law.Quantity
	connections int
	pipelining  int
}

func (r *rated) of(name string, row *law.Row) bool {
	rate, ok := row.Get(law.Rate)
	words := strings.Fields(name)
	if !ok || rate.Low <= 0 || len(words) == 0 {
		return false
	}
	at := func(f law.Figure, otherwise int) int {
		if q, ok := row.Get(f); ok {
			return int(q.Value)
		}
		return otherwise
	}
	*r = rated{words[0], strings.Join(words[1:], " "), rate, at(law.Connections, 32), at(law.Depth, 1)}
	return true
}

// claims are those of the first row of the first server that each other has a like of.
func (t *trying) claims(rows []rated) (all []claim, like rated, err error) {
	servers, err := contest.ParseServers(t.Test)
	if err != nil {
		return nil, like, fmt.Errorf("--test: %w", err)
	}
	find := func(name string, like *rated) int {
		return slices.IndexFunc(rows, func(r rated) bool {
			return r.name == name && (like == nil || r.rest == like.rest && r.connections == like.connections && r.pipelining == like.pipelining)
		})
	}
	base := find(servers[0].Name, nil)
	if base < 0 {
		return nil, like, fmt.Errorf("--test: no row with a rate is called %q", servers[0].Name)
	}
	like = rows[base]
	for _, s := range servers[1:] {
		i := find(s.Name, &like)
		if i < 0 {
			return nil, like, fmt.Errorf("--test: no row %q is like that of %q: %s, %d connections", s.Name, like.name, like.rest, like.connections)
		}
		ratio, err := rows[i].rate.Over(like.rate)
		if err != nil || ratio.Low <= 1 && ratio.High >= 1 {
			return nil, like, fmt.Errorf("--test: the rates of %q and %q are alike, so the table says nothing of them", s.Name, like.name)
		}
		all = append(all, claim{Over: s.Name, Base: like.name, Row: like.rest, Printed: words.Significant(ratio.Value, 6)})
	}
	return all, like, nil
}

// do shows what is claimed, measures it, and says what held.
func (t *trying) do(ctx context.Context, out io.Writer, table []byte, rows []rated) (int, error) {
	claims, like, err := t.claims(rows)
	if err != nil {
		return cli.Failed, err
	}
	for _, c := range claims {
		fmt.Fprintf(out, "claimed: %s answers %.4g times as many requests a second as %s\n", c.Over, c.Printed, c.Base)
	}
	call := &compareCall{Servers: t.Test, URL: t.URL, Connections: like.connections, Pipelining: like.pipelining, Budget: t.Budget,
		Margin: "3%", Ready: 20 * time.Second, outputs: outputs{HTML: t.HTML, Badge: t.Badge}}
	fmt.Fprintf(out, "measured here by: linerate compare --url %s --connections %d --pipelining %d --budget %v %s\n", t.URL,
		call.Connections, call.Pipelining, t.Budget, contest.Shell(t.Test))
	made, err := call.outcome(ctx)
	if err != nil {
		return cli.Failed, err
	}
	status := 0
	for i := range claims {
		switch claims[i].held(made); claims[i].Verdict {
		case "refuted":
			status = 1
		case "inconclusive":
			status = cmp.Or(status, 2)
		}
		fmt.Fprintf(out, "%s: %s\n", claims[i].Verdict, claims[i].Says)
	}
	all := tested{Table: fmt.Sprintf("%x", sha256.Sum256(table)), Claims: claims, Outcome: made}
	if err := t.certify(out, &all); err != nil {
		return cli.Failed, err
	}
	return status, call.print(io.Discard, made)
}

// held says what came of a claim. A ratio of throughputs tells of the servers only where the client was not the wall.
func (c *claim) held(made *compare.Outcome) {
	c.Verdict, c.Says = "inconclusive", fmt.Sprintf("%s over %s: nothing is known", c.Over, c.Base)
	for _, of := range made.Comparisons {
		r := of.Throughput
		if of.Name != c.Over || r == nil {
			continue
		}
		more := map[bool]string{true: "more", false: "fewer"}[c.Printed > 1]
		c.Says = fmt.Sprintf("%s answers %s requests a second than %s: here %s, in the table × %.4g", c.Over, more, c.Base, r, c.Printed)
		walled := slices.ContainsFunc(made.Servers, func(m compare.Measured) bool { return strings.Contains(m.Bound, "client") })
		switch known := r.Known(); {
		case of.Verdict == compare.Invalid || walled:
			c.Says += "; but the client was the wall, or trials were refused, so that tells nothing of the servers; " + of.Says
		case known && (r.Low > 1) == (c.Printed > 1) && (r.Low > 1 || r.High < 1):
			c.Verdict = "reproduced"
		case known && (r.Low > 1 || r.High < 1):
			c.Verdict = "refuted"
		}
	}
}

// certify numbers what was tested by its digest, and writes it.
func (t *trying) certify(out io.Writer, of *tested) error {
	if t.Certificate == "" {
		return nil
	}
	text, err := asJSON(of)
	if err != nil {
		return err
	}
	of.Number = fmt.Sprintf("%.12x", sha256.Sum256(text))
	if text, err = asJSON(of); err == nil {
		err = strict.Replace(t.Certificate, text)
	}
	if err == nil {
		_, err = fmt.Fprintf(out, "certificate %s is in %s\n", of.Number, t.Certificate)
	}
	return err
}
