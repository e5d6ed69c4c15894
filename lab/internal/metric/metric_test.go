package metric

import (
	"regexp"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

func TestTheTableHasNoOtherKeys(t *testing.T) {
	var file struct {
		Metric []Metric `toml:"metric"`
	}
	if err := strict.DecodeTOML(text, &file); err != nil {
		t.Error(err)
	}
	if m, ok := Lookup("speed"); ok {
		t.Errorf("found %+v for an unknown name", m)
	}
}

func TestEveryMetricSaysWhatItIs(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	seen := map[string]bool{}
	for _, m := range All {
		if !name.MatchString(m.Name) || seen[m.Name] {
			t.Errorf("%q is no name for a metric, or is there twice", m.Name)
		}
		seen[m.Name] = true
		if m.Label == "" || !strings.HasSuffix(m.Doc, ".") {
			t.Errorf("%s: label %q, sentence %q", m.Name, m.Label, m.Doc)
		}
	}
}

// Results files use base SI units and name them; a suffix that contradicts the
// unit would mislead every reader.
func TestNamesAgreeWithUnits(t *testing.T) {
	for _, m := range All {
		for _, c := range []struct {
			suffix string
			unit   Unit
		}{
			{"_bytes_per_s", BytesPerSecond}, {"_per_s", PerSecond}, {"_rps", PerSecond}, {"_bps", BitsPerSecond},
			{"_s", Second}, {"_bytes", Bytes}, {"_share", Ratio}, {"_busy", Ratio}, {"_steal", Ratio},
		} {
			if strings.HasSuffix(m.Name, c.suffix) {
				if m.Unit != c.unit {
					t.Errorf("%s is in %q, its name says %q", m.Name, m.Unit, c.unit)
				}
				break
			}
		}
	}
}

// If the client is the wall, these figures say nothing about the server. CPU
// time per request and counts of processes are always the server's own.
func TestWhatMeasuresTheClient(t *testing.T) {
	for name, want := range map[string]bool{
		"throughput_rps": true, "latency_p99_s": true, "transfer_bytes_per_s": true, "line_rate_share": true,
		"throughput_per_worker_rps": true, "delivered_per_s": true,
		"server_cpu_per_request_s": false, "client_cpu_per_request_s": false, "workers": false, "threads_per_worker": false,
		"response_bytes": false, "arrived_share": false, "server_cpu_per_event_s": false,
	} {
		if m, ok := Lookup(name); !ok || m.MeasuresClient != want {
			t.Errorf("%s (known: %v) measures the client: %v, want %v", name, ok, m.MeasuresClient, want)
		}
	}
}
