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

func (reportCall) Help() string {
	return `Sums up what a change moves since it left the history of a git revision: verdicts (first
those on which machines disagree), claims, runs and hosts, invalid trials and why, what
bounded the trials, audit findings, published figures. It reads the files as they are,
committed or not, and those of before from git. All verdicts are derived by today's code.
If the lab has changed, that of before is built too and derives the same: verdicts that
only the code moved are listed apart. It does not check the change: that is for lab check.

  lab report --against main
  lab report --against "$(git merge-base HEAD origin/main)" --markdown >> "$GITHUB_STEP_SUMMARY"`
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
