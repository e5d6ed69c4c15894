package machine

import "testing"

func TestTheDefaultRouteNamesTheInterface(t *testing.T) {
	const head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
	for _, c := range []struct{ name, table, want string }{
		{"one", head + "eth0\t00000000\t010011AC\t0003\t0\t0\t0\t00000000\t0\t0\t0\neth0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n", "eth0"},
		{"the lower metric", head + "wlan0\t00000000\t010011AC\t0003\t0\t0\t600\t00000000\t0\t0\t0\nens5\t00000000\t010011AC\t0003\t0\t0\t100\t00000000\t0\t0\t0\n", "ens5"},
		{"fewer digits are less", head + "a\t00000000\t0\t3\t0\t0\t100\t00000000\t0\t0\t0\nb\t00000000\t0\t3\t0\t0\t20\t00000000\t0\t0\t0\n", "b"},
		{"none", head + "eth0\t000011AC\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n", ""},
		{"nothing", "", ""},
	} {
		if got := defaultRoute(c.table); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
