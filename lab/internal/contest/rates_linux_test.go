package contest

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/proc"

	"github.com/line-rate/line-rate/lab/internal/curve"
)

// A server that sleeps for 20 ms can answer a hundred a second on two connections, however fast the
// machine is: at fifty no latency is below that, and at three hundred it stays behind.
func TestABlockAsksServersAtFixedRates(t *testing.T) {
	port, err := FreePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	pinned := client
	pinned.ServerCPUs = []int{0}
	b := Bench{Client: pinned, Dir: t.TempDir(), Port: port, Options: Options{Looks: make([]Look, 2),
		Path: "/", Connections: 2, Pipelining: 1, Ready: 10 * time.Second,
		Servers: []Server{testServer(t, "a", "fine"), testServer(t, "b", "sleeps")}}}
	asks := []curve.Ask{{Server: 1, RPS: 50, Seconds: 0.4}, {Server: 0, RPS: 50, Seconds: 0.4}, {Server: 1, RPS: 300, Seconds: 0.4}}
	slots, err := b.Block(context.Background(), asks, []int{2, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range slots {
		if s.Ask != asks[i] || s.Fault != "" {
			t.Errorf("%d: %+v", i, s)
		}
	}
	if slots[0].Latency[0] < 0.02 || slots[1].Answered == 0 {
		t.Errorf("%+v", slots)
	}
	if s := slots[2]; !strings.Contains(s.Short(), "requests a second, so its queue grew") || s.Answered > 60 {
		t.Errorf("%+v: %s", s, s.Short())
	}
	if left := proc.Descendants(os.Getpid())[1:]; len(left) > 0 {
		t.Errorf("processes %v were left behind", left)
	}
}

func TestAServerThatEndsAtFixedRatesIsNamed(t *testing.T) {
	port, err := FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	b := Bench{Client: client, Dir: t.TempDir(), Port: port, Options: Options{Looks: make([]Look, 1), Path: "/",
		Connections: 2, Pipelining: 1, Ready: 10 * time.Second, Servers: []Server{testServer(t, "a", "dies")}}}
	if _, err = b.Block(context.Background(), []curve.Ask{{RPS: 50, Seconds: 0.2}}, nil); err == nil ||
		!strings.Contains(err.Error(), "a: it died while it was asked") {
		t.Error(err)
	}
}
