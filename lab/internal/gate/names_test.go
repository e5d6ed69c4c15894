package gate

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// A name without a sentence would be missing from the method page.
func TestEveryNameIsAGateOnce(t *testing.T) {
	source, err := os.ReadFile("names.go")
	if err != nil {
		t.Fatal(err)
	}
	block, _, _ := strings.Cut(string(source), "// A Kind")
	names := regexp.MustCompile(`(?m)^\t\w+\s+= "([a-z0-9-]+)"$`).FindAllStringSubmatch(block, -1)
	if len(names) != len(All) || len(names) < 20 {
		t.Errorf("%d names, %d gates", len(names), len(All))
	}
	for _, n := range names {
		if g, ok := Of(n[1]); !ok || g.Closes == "" {
			t.Errorf("%s has no sentence", n[1])
		}
	}
	if _, ok := Of("perhaps"); ok {
		t.Error("a gate that does not exist was found")
	}
}

// Thresholds are written as text, not with Go's formatting.
func TestSentencesHoldTheThresholds(t *testing.T) {
	for name, want := range map[string]string{
		Steal: "more than 3 % of", OtherLoad: "10 % of a core", Clock: "10 ms", HeldUp: "for 1 s", SlowCore: "1.25 times",
		RateShort: "99 % of", Window: "10 %, or 300 ms", Little: "10 % off",
	} {
		if g, _ := Of(name); !strings.Contains(g.Closes, want) {
			t.Errorf("%s: %q lacks %q", name, g.Closes, want)
		}
	}
}

// A load generator that cuts its latencies gives a least mean, and no other is
// needed.
func TestTheMeanThatALittleNeeds(t *testing.T) {
	m := map[string]float64{"throughput_rps": 1000, "requests": 1000}
	a := Asked{Connections: 100, Pipelining: 1, WindowS: 1}
	for step, want := range map[float64]string{0: "latency_mean_s", 0.001: "latency_mean_least_s"} {
		a.ResolutionS = step
		if f := Hold(Little, m, a); len(f) != 1 || !f[0].Missing() || f[0].Metric != want {
			t.Errorf("%v: %+v, want %s to be missing", step, f, want)
		}
	}
}

// A rule without a gate would never be called.
func TestEveryRuleIsOfAGate(t *testing.T) {
	for name := range rules {
		if _, ok := Of(name); !ok {
			t.Errorf("no gate %s", name)
		}
	}
}
