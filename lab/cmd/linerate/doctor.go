package main

import (
	"context"
	"io"

	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/machine"
)

type doctorCall struct{}

func (doctorCall) do(_ context.Context, out io.Writer) (int, error) {
	findings, err := machine.Examine(nil)
	if err != nil {
		return cli.Failed, err
	}
	return 0, machine.Print(out, findings)
}
