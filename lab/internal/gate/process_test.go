package gate

import (
	"strings"
	"testing"
)

func TestOnlyListedProcessesAreNamed(t *testing.T) {
	for name, want := range map[string]string{
		"lab": "lab", "fiber_server": "fiber_server", "http_load": "http_load", "node": "node",
		"ksoftirqd/1": "ksoftirqd", "kworker/u8:2-events_unbound": "kworker", "kswapd0": "kswapd", "irq/123-nvme0q1": "irq",
		"jbd2/vda-8": "jbd2",
		"chromium":   Another, "chrome": Another, "acme-agent": Another, "": Another, "bash": Another, "go": Another,
		"lab.test": Another,
		// What only begins like a listed name is not it.
		"labrador": Another, "node-acme": Another, "kworkeracme": Another, "irqacme/1": Another, "lab/acme": Another,
	} {
		if got := Process(name); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
	for name, why := range file.Published {
		if why == "" {
			t.Errorf("%s is published without a reason", name)
		}
	}
}

func TestOldDetailsAreShownWithoutNames(t *testing.T) {
	const before = "server_foreign_load 0.42, at most 0.05; most of it "
	for name, want := range map[string]string{
		"chromium (0.40)": Another + " (0.40)", "ksoftirqd/0 (0.11)": "ksoftirqd (0.11)", "node (1.20)": "node (1.20)",
		"a (0.10) b (0.40)": Another + " (0.40)", "unknown": "unknown",
	} {
		if got := Public(OtherLoad, before+name); got != before+want {
			t.Errorf("%q is shown as %q", name, strings.TrimPrefix(got, before))
		}
	}
	if got := Public(Errors, before+"chromium (0.40)"); got != before+"chromium (0.40)" {
		t.Errorf("the detail of another gate was changed to %q", got)
	}
}
