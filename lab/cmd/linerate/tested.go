package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/certify"
	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/contest"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/tell"
)

// trying is how what a table says of servers is measured here.
type trying struct {
	Test        []string      `placeholder:"NAME=COMMAND" sep:"none" help:"Measure here what the table says of a server by the name of its rows: whether its rate rises, falls or stays over connections or pipelining, and whether another answers more. May be given several times."`
	URL         string        `name:"url" default:"/" placeholder:"PATH" help:"With --test: path that is asked (default /)."`
	Budget      time.Duration `default:"60s" placeholder:"DURATION" help:"With --test: the longest that is measured (default 60s)."`
	Experiment  string        `placeholder:"FILE" help:"With --test: write the experiment to a file, before it runs."`
	Certificate string        `placeholder:"FILE|DIRECTORY" help:"With --test: write claims, figures and verdicts to a file, with a number by which it can be told from any other; in a directory that number is its name."`
	HTML        string        `name:"html" placeholder:"FILE" help:"With --test: also write a page with the verdicts, and the comparison behind them."`
	Badge       string        `placeholder:"FILE" help:"With --test: also write the verdicts as JSON for a badge of shields.io."`
}

// do shows what is claimed and how it is measured, measures it, and says what held.
func (t *trying) do(ctx context.Context, out io.Writer, name string, table []byte, rows []certify.Row) (int, error) {
	servers, err := contest.ParseAny(t.Test)
	var claims *certify.Claims
	if err == nil {
		claims, err = certify.Of(rows, strict.Called(servers, func(s contest.Server) string { return s.Name }))
	}
	if err != nil {
		return cli.Failed, fmt.Errorf("--test: %w", err)
	}
	for _, c := range claims.All {
		fmt.Fprintf(out, "claimed: %s\n", c.Text())
	}
	for _, note := range claims.Notes {
		fmt.Fprintf(out, "not claimed: %s\n", note)
	}
	all := certify.Certificate{SchemaVersion: certify.Version, Table: filepath.Base(name), TableSHA256: fmt.Sprintf("%x", sha256.Sum256(table)),
		Claims: claims.All}
	var conditions []contest.Server
	for _, c := range claims.Conditions {
		s, _ := strict.First(servers, func(s contest.Server) bool { return s.Name == c.Server })
		s.Of, s.Name, s.Connections, s.Pipelining, s.Base = s.Name, c.Name, c.Connections, c.Pipelining, c.Base
		conditions = append(conditions, s)
	}
	call := &compareCall{URL: t.URL, Connections: conditions[0].Connections, Pipelining: conditions[0].Pipelining, Budget: t.Budget,
		Margin: fmt.Sprint(certify.Margin), Ready: 20 * time.Second, outputs: outputs{HTML: t.HTML, Badge: t.Badge}}
	o, err := call.options(func([]string) ([]contest.Server, error) { return conditions, nil })
	if err != nil {
		return cli.Failed, err
	}
	o.Claims = claims.Experiment(o.ID)
	o.Show = func(text []byte) error {
		all.Experiment = fmt.Sprintf("%x", sha256.Sum256(text))
		_, err := fmt.Fprintf(out, "measured by this experiment:\n\n%s\n", text)
		if err == nil && t.Experiment != "" {
			err = strict.Replace(t.Experiment, text)
		}
		return err
	}
	o.Settled = func(made *compare.Outcome) bool {
		return !slices.ContainsFunc(claims.All, func(c certify.Claim) bool {
			c.Judge(made)
			return c.Verdict == certify.Inconclusive
		})
	}
	made, err := call.measured(ctx, o)
	if err != nil {
		return cli.Failed, err
	}
	status, says := 0, []string{}
	for i := range all.Claims {
		c := &all.Claims[i]
		switch c.Judge(made); c.Verdict {
		case certify.Refuted:
			status = 1
		case certify.Inconclusive:
			status = cmp.Or(status, 2)
		}
		says = append(says, c.Verdict+": "+c.Says)
		fmt.Fprintln(out, says[i])
	}
	if all.Outcome = made; t.Certificate != "" {
		if err := t.certify(out, all); err != nil {
			return cli.Failed, err
		}
	}
	files := map[string]form{}
	if t.HTML != "" {
		files[t.HTML] = func(made *compare.Outcome) ([]byte, error) { return tell.ClaimsPage(made, says) }
	}
	if t.Badge != "" {
		files[t.Badge] = func(*compare.Outcome) ([]byte, error) { return asJSON(all.Badge()) }
	}
	return status, write(files, made)
}

// directories are what a word of a command says of where its files are.
var directories = regexp.MustCompile(`(^|=)[~.]*/\S*/`)

// certify writes a certificate, with nothing that names this machine or its directories.
func (t *trying) certify(out io.Writer, of certify.Certificate) error {
	kept := *of.Outcome
	kept.Servers = slices.Clone(kept.Servers)
	for i := range kept.Servers {
		s := &kept.Servers[i]
		s.URL, s.Subject = "", ""
		s.Command = strict.Called(s.Command, func(word string) string { return directories.ReplaceAllString(word, "$1") })
	}
	of.Outcome = &kept
	if err := of.Seal(); err != nil {
		return err
	}
	path := t.Certificate
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, of.Number+".json")
	}
	text, err := asJSON(of)
	if err == nil {
		err = strict.Replace(path, text)
	}
	if err == nil {
		_, err = fmt.Fprintf(out, "certificate %s is in %s\n", of.Number, path)
	}
	return err
}
