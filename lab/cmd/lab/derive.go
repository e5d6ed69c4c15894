package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/line-rate/line-rate/lab/internal/derive"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/words"
)

type deriveCall struct {
	Check bool `help:"Fail where a page's words say more than the record that it shows."`
}

func (c deriveCall) do(_ context.Context, out io.Writer) (int, error) {
	root, err := journal.Find(".")
	if err != nil {
		return exitFailed, err
	}
	began := time.Now()
	done, err := derive.Update(root)
	if err != nil {
		return exitFailed, err
	}
	fmt.Fprintf(out, "%s with %s derived in %.1f s\n", words.Count(done.Experiments, "experiment"),
		words.Count(done.Runs, "run"), time.Since(began).Seconds())
	wrong := 0
	for _, s := range done.Moved {
		fmt.Fprintln(out, s)
		if s.Wrong() {
			wrong++
		}
	}
	if c.Check && wrong > 0 {
		return exitFailed, fmt.Errorf("%s more than the record", words.Count(wrong, "page says", "pages say"))
	}
	return exitHeld, nil
}
