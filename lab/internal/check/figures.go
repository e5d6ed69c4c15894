package check

import (
	"cmp"
	"fmt"

	"github.com/line-rate/line-rate/lab/internal/metric"
	"github.com/line-rate/line-rate/lab/internal/results"
)

var (
	// A sum over a window can fall.
	belowNought = map[string]bool{"backlog_growth_per_s": true}

	// Ratios that are no part of a whole: numbers of cores, and quotients of two windows.
	quotients = map[string]bool{"server_foreign_load": true, "client_foreign_load": true,
		"profiled_throughput_share": true, "answered_share": true, "delivered_share": true}

	// Quantiles of one distribution, lowest first.
	quantiles = [][]string{
		{"latency_p50_s", "latency_p90_s", "latency_p95_s", "latency_p99_s", "latency_p999_s", "latency_max_s"},
		{"latency_mean_s", "latency_max_s"},
		{"delivery_p50_s", "delivery_p99_s"},
	}
)

// mostShare is the largest share: clocks that are read one after the other, and bursts
// of a shaper, put it above 1, and percents lie far above it.
const mostShare = 2

// figures reports a trial's first figure that cannot be true: a negative one, a share of
// more than all, quantiles out of order, or none where a valid trial has one.
func figures(t results.Trial) error {
	var found []error
	for _, name := range metric.Names() {
		found = append(found, inRange(t, name))
	}
	for _, names := range quantiles {
		found = append(found, inOrder(t, names))
	}
	for _, name := range []string{"requests", "duration_s", "throughput_rps"} {
		if v, ok := t.Metrics[name]; t.Valid && !(ok && v > 0) {
			found = append(found, fmt.Errorf("metrics/%s: missing, or nought; a trial that counts has answered something", name))
		}
	}
	return cmp.Or(found...)
}

func inRange(t results.Trial, name string) error {
	if limit, ok := t.Below[name]; ok && !(limit > 0) {
		return fmt.Errorf("below/%s: %v; nothing is less than that", name, limit)
	}
	v, ok := t.Metrics[name]
	if !ok {
		return nil
	}
	m, _ := metric.Lookup(name)
	switch {
	case v < 0 && !belowNought[name]:
		return fmt.Errorf("metrics/%s: %v is below 0", name, v)
	case m.Unit == metric.Ratio && v > mostShare && !quotients[name]:
		return fmt.Errorf("metrics/%s: %v is a share of more than all", name, v)
	}
	return nil
}

// inOrder reports the first quantile that is less than a lower one. A quantile
// known only to be less than a limit is taken as that limit.
func inOrder(t results.Trial, names []string) error {
	least, of := 0.0, ""
	for _, name := range names {
		if v, ok := t.Metrics[name]; ok {
			if v < least {
				return fmt.Errorf("metrics/%s: %v is less than %s, %v", name, v, of, least)
			}
			least, of = v, name
		}
		if limit, ok := t.Below[name]; ok && limit <= least {
			return fmt.Errorf("below/%s: less than %v is less than %s, %v", name, limit, of, least)
		}
	}
	return nil
}
