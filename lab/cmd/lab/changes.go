package main

import (
	"context"
	"io"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/derive"
)

type reportCall struct {
	Against  string `required:"" placeholder:"REVISION" help:"The git revision that the change is to be judged against, as main or a commit."`
	Markdown bool   `help:"Write Markdown, for a comment on GitHub or a job's summary."`
}

// do prints the report. What it says is for a reader, so it does not change the exit
// status.
func (c reportCall) do(ctx context.Context, out io.Writer) (int, error) {
	j, err := open()
	if err != nil {
		return exitFailed, err
	}
	text := ""
	err = archive.Since(j.Root, c.Against, func(past *archive.Past) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		text = derive.ReportOn(past, j).Text(c.Markdown)
		return nil
	})
	if err != nil {
		return exitFailed, err
	}
	_, err = io.WriteString(out, text)
	return exitHeld, err
}
