package main

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/fleet"
)

func TestAClockThatNoTrialCanGoByIsSaid(t *testing.T) {
	names := []string{"the server's host, web", "client 1, load-a", "client 2, load-b"}
	if err := checkClocks(names, []fleet.Clock{{UncertaintyS: 0.005}, {UncertaintyS: 0.0001}}); err != nil {
		t.Errorf("both are sure enough: %v", err)
	}
	err := checkClocks(names, []fleet.Clock{{UncertaintyS: 0.001}, {UncertaintyS: 0.031}})
	if err == nil || strings.Contains(err.Error(), "\n") ||
		!strings.HasPrefix(err.Error(), "client 2, load-b: its clock is known to 31 ms only") ||
		!strings.Contains(err.Error(), "every trial would be invalid from 5ms on") ||
		!strings.Contains(err.Error(), "chrony") {
		t.Errorf("%v", err)
	}
}

func TestALinkIsNamedAsItIsSold(t *testing.T) {
	for rate, want := range map[float64]string{1e10: "interface eth0 of 10000 Mbit/s",
		2.5e9: "interface eth0 of 2500 Mbit/s", 0: "interface eth0 of unknown rate"} {
		if got := linkOf(fleet.Hello{Device: "eth0", LineRate: rate}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
