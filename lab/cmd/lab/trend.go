package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/trend"
	"github.com/line-rate/line-rate/lab/internal/verdict"
)

type trendCall struct{}

// do keeps a few figures of the runs that this clone made as a week of the series in
// data/trend.
func (trendCall) do(_ context.Context, out io.Writer) (int, error) {
	j, err := open()
	if err != nil {
		return exitFailed, err
	}
	x, err := j.Experiment(trend.Control)
	if err != nil {
		return exitFailed, err
	}
	here := madeHere(j.Root)
	var newest *results.File
	for _, f := range j.Runs {
		if f.Experiment == x.Name && f.Source == results.Measured && !f.OnFleet() && here(f) && len(f.Trials) > 0 {
			newest = f // they are in the order of their times
		}
	}
	if newest == nil {
		return exitFailed, fmt.Errorf("this clone has made no run of %s; lab run %s makes one", x.Name, x.Name)
	}
	h := j.Hosts[newest.Hosts.Server]
	record := recordOf(j, x, h, here)
	control := record.said()
	if control == nil {
		return exitFailed, fmt.Errorf("the newest run of %s was not made with today's claims", x.Name)
	}
	var smoke []*verdict.File
	for _, x := range j.Experiments {
		if said := recordOf(j, x, h, here).said(); said != nil {
			smoke = append(smoke, said)
		}
	}
	var runs []*results.File
	for _, r := range record.runs {
		runs = append(runs, r.File)
	}
	w, err := trend.New(h, runs, control, smoke)
	if err != nil {
		return exitFailed, fmt.Errorf("no week is made of %s: %w", j.Root.Rel(j.Root.Result(x.Name, newest.Run)), err)
	}
	data, err := results.Encode(w)
	if err != nil {
		return exitFailed, err
	}
	path := j.Root.Week(w.Date)
	if err := results.WriteNew(j.Root.Scratch(), path, data); err != nil {
		return exitFailed, errors.Join(fmt.Errorf("%s: a week is kept as it was measured", j.Root.Rel(path)), err)
	}
	ratio := w.Control[trend.Metrics[0]]
	fmt.Fprintf(out, "%s: on %s, %d cores, the same server serves %.4g times its own throughput (%.4g to %.4g) over %d blocks\n",
		j.Root.Rel(path), w.CPU, w.Cores, ratio.Median, ratio.Low, ratio.High, w.Blocks)
	return exitHeld, nil
}
