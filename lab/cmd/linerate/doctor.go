package main

import (
	"context"
	"io"

	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/doctor"
)

type doctorCall struct{}

func (doctorCall) do(_ context.Context, out io.Writer) (int, error) {
	split, allowed, err := cores.Here()
	if err != nil {
		return cli.Failed, err
	}
	return 0, doctor.Print(out, doctor.Machine{Split: split, Allowed: allowed}.Findings())
}
