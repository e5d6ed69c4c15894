package run

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/topology"
)

// A client that ends at once with status 0 leaves no time for profiles.
func TestAClientThatEndsBeforeItsProfiles(t *testing.T) {
	dir, err := os.MkdirTemp("", "p") // short, as a socket's path is bounded
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := freshSockets(dir); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(dir, pprofDir, "1.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	proc, err := leash.Start(leash.Spec{Argv: []string{"sleep", "300"}})
	if err != nil {
		t.Fatal(err)
	}
	defer proc.Stop(proc.Pid(), 0)

	l := load{dir: dir, link: &topology.Link{}, client: []string{"echo", fortioLine}, generator: "fortio",
		window: time.Second, warmup: time.Second, limit: time.Minute}
	trial := results.Trial{Metrics: map[string]float64{}}
	var closed []string
	err = l.profiled(t.Context(), &trial, &server{proc, "sleep"}, func(name, format string, args ...any) {
		closed = append(closed, name+": "+fmt.Sprintf(format, args...))
	})
	if err != nil || len(closed) != 1 || !strings.HasPrefix(closed[0], gate.ProfileFailed+": the client ended") {
		t.Errorf("%v, gates closed %q; want %s alone", err, closed, gate.ProfileFailed)
	}
}

// fortioLine is a whole trial, as fortio_load prints one.
const fortioLine = `{"generator":"fortio","start":"2026-01-01T00:00:00Z","finish":"2026-01-01T00:00:01Z","requests":1,"non2xx":0,"errors":0,"timeouts":0,"resets":0,"bytes":100,` +
	`"asked_rate":0,"unanswered":0,"connections":1,"latency_s":{"mean":0.001,"p50":0.001,"p90":0.001,"p99":0.001,"p999":0.001,"max":0.001}}`
