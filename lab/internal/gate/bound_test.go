package gate

import (
	"slices"
	"strings"
	"testing"
)

// A made-up trial: every resource recorded, none saturated.
func quiet() map[string]float64 {
	return map[string]float64{
		"line_rate_share": 0.5, "client_thread_busy_max": 0.5, "client_cores_busy": 0.5,
		"server_workers_busy": 0.5, "server_cores_busy": 0.5,
	}
}

func TestDecideNamesTheWall(t *testing.T) {
	const absent = -1
	for _, c := range []struct {
		name string
		set  map[string]float64 // replaces values of idle; absent removes a figure
		want Bound
	}{
		{"nothing saturated", nil, BoundUnknown},
		{"wire", map[string]float64{"line_rate_share": 0.97}, BoundWire},
		{"client thread", map[string]float64{"client_thread_busy_max": 0.99}, BoundClientCPU},
		{"client cores", map[string]float64{"client_cores_busy": 0.99}, BoundClientCPU},
		{"server workers", map[string]float64{"server_workers_busy": 0.99}, BoundServerCPU},
		{"server cores", map[string]float64{"server_cores_busy": 0.99}, BoundServerCPU},

		// All walls that were met are named: any of them may have limited throughput.
		{"client and server", map[string]float64{"client_thread_busy_max": 0.95, "server_workers_busy": 1},
			"client-cpu+server-cpu"},
		{"wire and client", map[string]float64{"line_rate_share": 0.91, "client_thread_busy_max": 1}, "client-cpu+wire"},
		{"wire and server", map[string]float64{"line_rate_share": 0.95, "server_workers_busy": 1}, "server-cpu+wire"},
		{"all", map[string]float64{"line_rate_share": 1, "client_thread_busy_max": 1, "client_cores_busy": 1,
			"server_workers_busy": 1, "server_cores_busy": 1}, "client-cpu+server-cpu+wire"},

		// Each resource has its own threshold.
		{"wire at the threshold", map[string]float64{"line_rate_share": 0.90}, BoundWire},
		{"wire just below", map[string]float64{"line_rate_share": 0.8999999}, BoundUnknown},
		{"client thread at the threshold", map[string]float64{"client_thread_busy_max": 0.90}, BoundClientCPU},
		{"client thread just below", map[string]float64{"client_thread_busy_max": 0.8999999}, BoundUnknown},
		{"server cores at the threshold", map[string]float64{"server_cores_busy": 0.90}, BoundServerCPU},
		{"server cores just below", map[string]float64{"server_cores_busy": 0.8999999}, BoundUnknown},

		// Nothing guesses a missing figure. It names the server only if the client had room.
		{"no wire, nothing saturated", map[string]float64{"line_rate_share": absent}, BoundUnknown},
		{"no wire, server saturated", map[string]float64{"line_rate_share": absent, "server_workers_busy": 1},
			BoundServerCPU},
		{"no client thread, server saturated", map[string]float64{"client_thread_busy_max": absent, "server_workers_busy": 1},
			BoundUnknown},
		{"no client cores, server saturated", map[string]float64{"client_cores_busy": absent, "server_workers_busy": 1},
			BoundUnknown},
		{"no client at all, server saturated",
			map[string]float64{"client_thread_busy_max": absent, "client_cores_busy": absent, "server_cores_busy": 1},
			BoundUnknown},
		{"no client thread, client cores saturated",
			map[string]float64{"client_thread_busy_max": absent, "client_cores_busy": 1}, BoundClientCPU},
		{"no client at all, wire full", map[string]float64{"client_thread_busy_max": absent, "client_cores_busy": absent,
			"line_rate_share": 1}, BoundWire},
		{"no workers, cores saturated", map[string]float64{"server_workers_busy": absent, "server_cores_busy": 1},
			BoundServerCPU},
		{"no server at all", map[string]float64{"server_workers_busy": absent, "server_cores_busy": absent}, BoundUnknown},
	} {
		m := quiet()
		for k, v := range c.set {
			if m[k] = v; v == absent {
				delete(m, k)
			}
		}
		if w := WallsOf(m, 0); w.Bound() != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, w.Bound(), w.Why(), c.want)
		}
	}
}

// A reading tells a full resource, one with room, or neither.
func TestWallsTellRoomFromUnseen(t *testing.T) {
	without := func(names ...string) map[string]float64 {
		m := quiet()
		for _, name := range names {
			delete(m, name)
		}
		return m
	}
	for _, c := range []struct {
		name   string
		m      map[string]float64
		rate   float64
		room   []Bound
		unseen []Bound
	}{
		{"all seen", quiet(), 1e9, []Bound{BoundClientCPU, BoundServerCPU, BoundWire}, nil},
		{"no line rate is no wall", without("line_rate_share"), 0, []Bound{BoundClientCPU, BoundServerCPU, BoundWire}, nil},
		{"a wire that was not read", without("line_rate_share"), 1e9, []Bound{BoundClientCPU, BoundServerCPU},
			[]Bound{BoundWire}},
		{"a client without its threads", without("client_thread_busy_max"), 0, []Bound{BoundServerCPU, BoundWire},
			[]Bound{BoundClientCPU}},
		{"a client without its cores", without("client_cores_busy"), 0, []Bound{BoundServerCPU, BoundWire},
			[]Bound{BoundClientCPU}},
		{"no server", without("server_cores_busy", "server_workers_busy"), 0, []Bound{BoundClientCPU, BoundWire},
			[]Bound{BoundServerCPU}},
		{"nothing", nil, 1e9, nil, []Bound{BoundClientCPU, BoundServerCPU, BoundWire}},
	} {
		w := WallsOf(c.m, c.rate)
		for _, b := range []Bound{BoundClientCPU, BoundServerCPU, BoundWire} {
			if got, want := w.Room(b), slices.Contains(c.room, b); got != want || w.Meets(b) {
				t.Errorf("%s: room at %s is %v, want %v; met %v", c.name, b, got, want, w.Met)
			}
		}
		if !slices.Equal(w.Unseen, c.unseen) {
			t.Errorf("%s: unseen %v, want %v", c.name, w.Unseen, c.unseen)
		}
	}
}

func TestNoEvidenceIsUnknown(t *testing.T) {
	unread := quiet()
	delete(unread, "line_rate_share")
	if why := WallsOf(unread, 1e9).Why(); !strings.HasPrefix(why, "the wire was not read; busiest client thread 50 %, ") {
		t.Error(why)
	}
	if w := WallsOf(nil, 1e9); w.Bound() != BoundUnknown || w.Why() != "the client's CPU was not recorded" {
		t.Errorf("%s (%s)", w.Bound(), w.Why())
	}
}

func TestTheFiguresAreSaid(t *testing.T) {
	why := WallsOf(map[string]float64{
		"line_rate_share": 0.954, "client_thread_busy_max": 0.421, "client_cores_busy": 0.2, "server_workers_busy": 0.31,
		"server_cores_busy": 0.3,
	}, 0).Why()
	if want := "busiest client thread 42 %, client cores 20 %, server workers 31 %, server cores 30 %, wire 95 %"; why != want {
		t.Errorf("%q, want %q", why, want)
	}
	why = WallsOf(map[string]float64{"server_cores_busy": 0.3}, 0).Why()
	if want := "the client's CPU was not recorded; server cores 30 %"; why != want {
		t.Errorf("%q, want %q", why, want)
	}
}

// The wire carries at least what the client read, and packet headers: 112.5
// MB/s is 0.9 of a line rate of 1 Gbit/s.
func TestTransferIsALowerBoundOfTheWire(t *testing.T) {
	for _, c := range []struct {
		name            string
		share, transfer float64 // share below 0: not read
		lineRate        float64
		want            Bound
		says            string
	}{
		{"transfer at the threshold", -1, 112.5e6, 1e9, BoundWire, "wire 90 %"},
		{"transfer below it", -1, 112.4e6, 1e9, BoundUnknown, "wire 90 %"},
		{"no line rate known", -1, 112.5e6, 0, BoundUnknown, ""},
		{"the interface's own count wins, higher", 0.93, 100e6, 1e9, BoundWire, "wire 93 %"},
		{"the interface's own count wins, lower", 0.5, 112.5e6, 1e9, BoundUnknown, "wire 50 %"},
	} {
		m := quiet()
		m["transfer_bytes_per_s"] = c.transfer
		if m["line_rate_share"] = c.share; c.share < 0 {
			delete(m, "line_rate_share")
		}
		w := WallsOf(m, c.lineRate)
		got, why := w.Bound(), w.Why()
		if got != c.want || c.says != "" && !strings.HasSuffix(why, c.says) || c.says == "" && strings.Contains(why, "wire") {
			t.Errorf("%s: %s (%s), want %s (... %s)", c.name, got, why, c.want, c.says)
		}
	}
	// An unread wire may have been full, so the server is not named.
	for name, share := range map[string]float64{"unread": -1, "read": 0.5} {
		m := quiet()
		m["server_cores_busy"], m["line_rate_share"] = 1, share
		want := BoundServerCPU
		if share < 0 {
			delete(m, "line_rate_share")
			want = BoundUnknown
		}
		if w := WallsOf(m, 1e9); w.Bound() != want {
			t.Errorf("%s wire, saturated server: %s (%s), want %s", name, w.Bound(), w.Why(), want)
		}
	}
}
