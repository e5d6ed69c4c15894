package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/tell"
)

type combineCall struct {
	Files []string `arg:"" name:"file" help:"What linerate compare --json printed, of one run each."`
	outputs
}

// longestOutcome is the limit in bytes of one run: the ratios of a thousand blocks have some 50 kB.
const longestOutcome = 4 << 20

func (c *combineCall) do(_ context.Context, out io.Writer) (int, error) {
	if err := c.check(); err != nil {
		return cli.Failed, err
	}
	var runs []*compare.Outcome
	for _, path := range c.Files {
		data, err := strict.ReadUpTo(path, longestOutcome)
		if err == nil {
			err = strict.CheckJSON(data)
		}
		o := &compare.Outcome{}
		if err == nil {
			err = json.Unmarshal(data, o)
		}
		if err == nil && (o.SchemaVersion != compare.Version || len(o.Comparisons) == 0 ||
			len(o.Servers) != len(o.Comparisons)+1) {
			err = fmt.Errorf("it is no outcome of linerate compare --json, of version %d", compare.Version)
		}
		if err != nil {
			return cli.Failed, fmt.Errorf("%s: %w", path, err)
		}
		runs = append(runs, o)
	}
	made := runs[0]
	if len(runs) > 1 {
		var err error
		if made, err = compare.Combine(c.Files, runs); err != nil {
			return cli.Failed, err
		}
		made.Says = tell.Lines(made)
	}
	return made.Exit, c.print(out, made)
}
