package generator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A RawTrial is what trial.sh --raw printed: autocannon's results of one client, one for
// each of its event loops.
type RawTrial struct {
	Name    string // in messages, as "client 2"
	Printed []byte
	// AheadNS is what to take from its times to get those of the whole.
	AheadNS int64
}

// aggregator is the program that adds up raw results, from the root of the checkout.
const aggregator = "lab/scripts/aggregate.mjs"

// AggregateAutocannon adds up what several clients measured at the same time, by
// autocannon's own aggregateResult, and returns it as ParseAutocannon reads it. Of one
// client alone it gives that client's figures. Root is that of the checkout.
//
// autocannon merges histograms of latency and adds counts and bytes. It does not merge
// times: those of its first result would stand for all. So the window here is from the
// first begin to the last end; see Together for the rate of several clients. Figures a sample,
// of which autocannon merges none, are left out.
func AggregateAutocannon(ctx context.Context, root string, raws []RawTrial) ([]byte, error) {
	var input bytes.Buffer
	for _, r := range raws {
		results, err := r.results()
		if err != nil {
			return nil, err
		}
		for _, one := range results {
			line, err := json.Marshal(one.all)
			if err != nil {
				return nil, err
			}
			input.Write(append(line, '\n'))
		}
	}
	if input.Len() == 0 {
		return nil, errors.New("there are no results of autocannon to add up")
	}
	program := filepath.Join(root, aggregator)
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing, which adds up autocannon's results", aggregator)
	}
	node := exec.CommandContext(ctx, "node", program)
	node.WaitDelay = time.Second
	var out, errs bytes.Buffer
	node.Stdin, node.Stdout, node.Stderr = &input, &out, &errs
	switch err := node.Run(); {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return nil, errors.New("node is not installed, which adds up autocannon's results; install Node.js 20 or newer")
	case err != nil:
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		return nil, fmt.Errorf("autocannon's results could not be added up (%w): %.200s", err, lines[len(lines)-1])
	}
	return out.Bytes(), nil
}

// Window is when the client's first event loop began and its last ended, in times of the
// whole.
func (r RawTrial) Window() (start, finish time.Time, err error) {
	results, err := r.results()
	if err != nil {
		return start, finish, err
	}
	for i, one := range results {
		if i == 0 || one.start.Before(start) {
			start = one.start
		}
		if one.finish.After(finish) {
			finish = one.finish
		}
	}
	return start, finish, nil
}

// A rawResult is that of one event loop.
type rawResult struct {
	all           map[string]json.RawMessage
	start, finish time.Time // of the whole
}

func (r RawTrial) results() ([]rawResult, error) {
	var all []map[string]json.RawMessage
	if err := json.Unmarshal(r.Printed, &all); err != nil || len(all) == 0 {
		return nil, fmt.Errorf("%s: autocannon's output is no list of raw results: %.100q", r.Name, r.Printed)
	}
	var results []rawResult
	for i, fields := range all {
		one := rawResult{all: fields}
		for key, at := range map[string]*time.Time{"start": &one.start, "finish": &one.finish} {
			if json.Unmarshal(fields[key], at) != nil || at.IsZero() {
				return nil, fmt.Errorf("%s: autocannon's result %d has no usable %q", r.Name, i, key)
			}
			*at = at.Add(-time.Duration(r.AheadNS)).UTC()
			// To the millisecond, as autocannon has it.
			fields[key], _ = json.Marshal(at.Format("2006-01-02T15:04:05.000Z"))
		}
		if err := Window(autocannon, one.start, one.finish); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		results = append(results, one)
	}
	return results, nil
}
