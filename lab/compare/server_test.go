package compare

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
)

func TestServersAreReadAsTheyWereMeant(t *testing.T) {
	got, err := ParseServers([]string{`old=./server --port {port} --name 'two words' "it's"`, "new-2.1=env A=1 ./server --addr {addr}"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"./server", "--port", "8083", "--name", "two words", "it's"}; got[0].Name != "old" || !slices.Equal(got[0].fill("127.0.0.1", 8083), want) {
		t.Errorf("%s: %q, want %q", got[0].Name, got[0].fill("127.0.0.1", 8083), want)
	}
	if want := []string{"env", "A=1", "./server", "--addr", "127.0.0.1:8084"}; got[1].Name != "new-2.1" || !slices.Equal(got[1].fill("127.0.0.1", 8084), want) {
		t.Errorf("%s: %q, want %q", got[1].Name, got[1].fill("127.0.0.1", 8084), want)
	}
	got, err = ParseServers([]string{"a=http://10.0.0.5:8080", "b=http://example.org/"})
	if err != nil || got[0].URL != "http://10.0.0.5:8080" || got[1].URL != "http://example.org:80" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestServersAreRefusedWithAWayOut(t *testing.T) {
	const fine = "b=./b {port}"
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{fine}, "1 servers: name two"},
		{[]string{"./a --port {port}", fine}, "has no name; write NAME=COMMAND"},
		{[]string{"a b=./a {port}", fine}, "has no name"},
		{[]string{"a=", fine}, "a has no command"},
		{[]string{"a=./a", fine}, "neither {port} nor {addr}"},
		{[]string{"b=./a {port}", fine}, "two servers are called b"},
		{[]string{"a=./a {port} | cat", fine}, "write sh -c"},
		{[]string{"a=./a {port} 2>&1", fine}, "write sh -c"},
		{[]string{"a=./a '{port}", fine}, "has a quote ' that does not end"},
		{[]string{"a=http://h:1", fine}, "a runs already and another is to be started"},
		{[]string{"a=https://h:1", "b=https://h:2"}, "only plain HTTP/1.1"},
		{[]string{"a=http://h:1/path", "b=http://h:2"}, "give the path by --url"},
		{[]string{"a=http://", "b=http://h:2"}, "is no address"},
	} {
		if _, err := ParseServers(c.args); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.args, err, c.says)
		}
	}
}

func TestACommandLineCanBeTypedAgain(t *testing.T) {
	words := []string{"lab", "compare", "--url", "/a?b=1", "old=./s --port {port}", "it's"}
	got := Shell(words)
	if want := `lab compare --url '/a?b=1' 'old=./s --port {port}' 'it'\''s'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSharesAndRatesTakeTheirUnits(t *testing.T) {
	for text, want := range map[string]float64{"3%": 0.03, "0.03": 0.03, " 2.5 % ": 0.025} {
		if got, err := ParseShare(text); err != nil || got < want-1e-12 || got > want+1e-12 {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"3", "0", "-1%", "100%", "NaN", "three"} {
		if got, err := ParseShare(text); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
	for text, want := range map[string]float64{"500mbit": 5e8, "1Gbit": 1e9, "2500kbit": 25e5} {
		if got, err := ParseRate(text); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"500", "500mb", "0mbit", "NaNmbit", "1000gbit"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

func TestOptionsThatCannotBeMeasuredAreRefused(t *testing.T) {
	fine := Options{Path: "/a", Servers: make([]Server, 2), Connections: 4, Pipelining: 1, Margin: 0.03}
	if err := fine.Check(); err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(*Options){
		"--url":         func(o *Options) { o.Path = "http://h/a" },
		"--url \"a\"":   func(o *Options) { o.Path = "a" },
		"--connections": func(o *Options) { o.Connections = 0 },
		"--pipelining":  func(o *Options) { o.Pipelining = 5000 },
		"--rate":        func(o *Options) { o.Rate = -1 },
		"--fail-above":  func(o *Options) { o.FailAbove = -2 },
		"--warmup":      func(o *Options) { o.Warmup = time.Hour },
		"runs already":  func(o *Options) { o.Servers[0].URL, o.FailAbove = "http://h:1", 1.05 },
		"--line-rate":   func(o *Options) { o.Servers[0].URL, o.LineRate = "http://h:1", 1e9 },
	} {
		o := fine
		o.Servers = make([]Server, 2)
		change(&o)
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

func TestSlotsHoldEnoughOfTheSlowestServer(t *testing.T) {
	o := Options{Connections: 32, Pipelining: 1}
	for _, c := range []struct {
		rates []float64
		want  time.Duration
	}{
		{[]float64{50_000, 40_000}, 50 * time.Millisecond},
		{[]float64{50_000, 640}, 200 * time.Millisecond}, // 128 requests, four for each in flight
		{[]float64{10}, 2 * time.Second},
		{[]float64{0}, 50 * time.Millisecond},
	} {
		var looks []Look
		for _, r := range c.rates {
			looks = append(looks, Look{Rate: r})
		}
		if got := Slot(o, looks); got != c.want {
			t.Errorf("%v: %v, want %v", c.rates, got, c.want)
		}
	}
}

func TestABudgetThatCannotTellIsRefused(t *testing.T) {
	o := Options{Servers: make([]Server, 2), Budget: 20 * time.Second}
	if err := Room(o, 2*time.Second, 19*time.Second); err != nil {
		t.Error(err)
	}
	err := Room(o, 4*time.Second, 19*time.Second) // seven blocks are 28 s, and one second was spent on looking
	if err == nil || !strings.Contains(err.Error(), "--budget 30s") {
		t.Error(err)
	}
}

func TestFreePortsAreNotThoseOfConnections(t *testing.T) {
	const n = 3
	first, err := FreePorts(n)
	if err != nil || first+n > ephemeral() || Taken(first, n) != 0 {
		t.Fatal(first, err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(first+1)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got := Taken(first, n); got != first+1 {
		t.Errorf("%d is taken, not %d", first+1, got)
	}
}

func TestWhatAServerPrintsForEachRequestGoesNowhere(t *testing.T) {
	o := options("old", "new")
	x, err := o.Design("/a dir", 50*time.Millisecond, []Look{{Answers: make([]Answer, 8), Lines: 1}, {Answers: make([]Answer, 8), Lines: 8}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"env --chdir /a dir /bin/true 8083", `sh -c exec "$@" >/dev/null 2>&1 sh env --chdir /a dir /bin/true 8084`} {
		words, _ := x.Server(x.Conditions()[i]).Line(experiment.Place{Host: loopback, Port: strconv.Itoa(8083 + i)}, nil)
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
