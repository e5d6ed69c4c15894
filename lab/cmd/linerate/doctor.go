package main

import (
	"context"
	"io"

	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/doctor"
	"github.com/line-rate/line-rate/lab/internal/session"
	"github.com/line-rate/line-rate/lab/internal/terminal"
)

type doctorCall struct{}

func (doctorCall) do(_ context.Context, out io.Writer) (int, error) {
	if err := onLinux(); err != nil {
		return cli.Failed, err
	}
	allowed, err := session.AllowedCPUs()
	if err != nil {
		return cli.Failed, err
	}
	split, err := session.Cores()
	if err != nil {
		return cli.Failed, err
	}
	width := doctor.Width
	if w := terminal.Columns(out); w > 0 {
		width = min(width, max(w, 60))
	}
	return 0, doctor.Print(out, doctor.Machine{Split: split, Allowed: allowed}.Comparing(), nil, width)
}
