package generator

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/metric"
)

// watched is the output of a made-up trial of two seconds: 1,000 readers had 3,000 of the 5,000 events that
// were due to them in the whole trial, of which 4,000 came in all.
func watched(change ...string) []byte {
	fields := []string{
		`"generator":"event_reader"`, `"start":"2026-01-01T00:00:00Z"`, `"finish":"2026-01-01T00:00:02Z"`,
		`"connections":1000`, `"open":1000`, `"shards_used":3`, `"bytes_per_connection":31000`,
		`"likes_per_s":20`, `"offered_per_s":2000`, `"refused":0`, `"events":3000`, `"bytes":192000`,
		`"missed":900`, `"repeated":0`, `"reordered":0`, `"faults":[]`,
		`"first_event_s":{"p50":0.1,"p99":0.2,"max":0.3}`, `"delivery_s":{"p50":0.01,"p99":0.02,"max":0.03}`,
		`"account":{"published":50,"due":5000,"lost_broadcast":500,"lost_shard":100,"lost_subscriber":250,"lost_left":100,` +
			`"lost_socket":50,"written":4000,"received":4000}`,
	}
	return changed(fields, change)
}

// pushed is an account with pushes: of 200 counts 150 found the queue full.
const pushed = `"account":{"due":100,"lost_broadcast":0,"lost_shard":0,"lost_subscriber":3,"lost_left":0,"lost_socket":0,` +
	`"written":97,"received":97,"push":{"offered":200,"merged":0,"unrouted":0,"full":150,"failed":0,"pushed":50,"push_s":0.01}}`

func TestTheFiguresOfReaders(t *testing.T) {
	for _, c := range []struct {
		name string
		out  []byte
		want map[string]float64
	}{
		{"one process", watched(), map[string]float64{"requests": 3000, "delivered_per_s": 1500, "throughput_rps": 1500,
			"offered_per_s": 2000, "likes_per_s": 20, "unaccounted_events": 0, "duplicate_events": 0, "shards_used": 3,
			"server_bytes_per_connection": 31000, "lost_broadcast_share": 0.1, "lost_shard_share": 0.02,
			"lost_subscriber_share": 0.05, "pushed_delivered_share": 0.8, "connections_established": 1000,
			"first_event_p99_s": 0.2, "delivery_p50_s": 0.01, "delivery_p99_s": 0.02}},
		{"two", watched(pushed), map[string]float64{"lost_push_share": 0.75, "push_mean_s": 0.0002,
			"pushed_delivered_share": 0.97, "unaccounted_events": 0}},
		{"an event in no place", watched(strings.ReplaceAll(pushed, `"written":97,"received":97`, `"written":96,"received":96`)),
			map[string]float64{"unaccounted_events": 1}},
		{"an event that nobody read", watched(strings.ReplaceAll(pushed, `"received":97`, `"received":95`)),
			map[string]float64{"unaccounted_events": 2}},
		// One too few and one too many are two faults, and not none.
		{"one written twice", watched(strings.ReplaceAll(pushed, `"written":97`, `"written":98`)),
			map[string]float64{"unaccounted_events": 2}},
		{"a count that was not pushed", watched(strings.ReplaceAll(pushed, `"pushed":50`, `"pushed":49`)),
			map[string]float64{"unaccounted_events": 1}},
		{"repeated", watched(`"repeated":2`, `"reordered":3`), map[string]float64{"duplicate_events": 5}},
	} {
		r, err := ParseReaders(c.out)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for name, want := range c.want {
			if got, ok := r.Metrics[name]; !ok || math.Abs(got-want) > 1e-12 {
				t.Errorf("%s: %s is %v, want %v", c.name, name, got, want)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
			if _, ok := metric.Lookup(name); !ok {
				t.Errorf("%s: no such metric", name)
			}
		}
		if len(r.Faults) > 0 {
			t.Errorf("%s: %v", c.name, r.Faults)
		}
	}
}

func TestFaultsOfReaders(t *testing.T) {
	for _, c := range []struct{ change, gate string }{
		{`"faults":[{"kind":"reset","n":1,"first":"connection 3"}]`, gate.Errors},
		{`"refused":1`, gate.Non2xx},
		{strings.ReplaceAll(pushed, `"failed":0`, `"failed":1`), gate.Errors},
		{`"events":0`, gate.NoRequests},
	} {
		r, err := ParseReaders(watched(c.change))
		if err != nil || len(r.Faults) != 1 || r.Faults[0].Name != c.gate {
			t.Errorf("%s: %v, %+v", c.change, err, r)
		}
	}
}

func TestAReadersTrialThatIsNoneIsRefused(t *testing.T) {
	for _, c := range []struct {
		out  []byte
		says string
	}{
		{nil, "printed nothing"}, {watched()[:60], "not JSON"}, {append(watched(), watched()...), "not JSON"},
		{watched(`"generator":"event_sink"`), `generator "event_sink"`}, {watched(`"finish"`), "no measured window"},
		{watched(`"events"`), `"events"`}, {watched(`"missed":-1`), `"missed"`}, {watched(`"account"`), `"account.due"`},
		{watched(strings.ReplaceAll(pushed, `"full":150,`, ``)), `"account.push.full"`},
	} {
		if r, err := ParseReaders(c.out); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, %+v, want %q", err, r, c.says)
		}
	}
}

func FuzzParseReaders(f *testing.F) {
	f.Add(watched())
	f.Add(watched(pushed))
	f.Fuzz(func(t *testing.T, out []byte) {
		if r, err := ParseReaders(out); err == nil {
			for name, v := range r.Metrics {
				if math.IsNaN(v) || v < 0 {
					t.Errorf("%s is %v", name, v)
				}
			}
		}
	})
}
