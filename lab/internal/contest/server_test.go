package contest

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/probe"
	"github.com/line-rate/line-rate/lab/load"
)

func TestServersAreReadAsTheyWereMeant(t *testing.T) {
	got, err := ParseServers([]string{`old=./server --port {port} --name 'two words' "it's"`,
		"new-2.1=env A=1 ./server --addr {addr}"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"./server", "--port", "8083", "--name", "two words", "it's"}; got[0].Name != "old" ||
		!slices.Equal(got[0].fill(8083), want) {
		t.Errorf("%s: %q, want %q", got[0].Name, got[0].fill(8083), want)
	}
	if want := []string{"env", "A=1", "./server", "--addr", "127.0.0.1:8084"}; got[1].Name != "new-2.1" ||
		!slices.Equal(got[1].fill(8084), want) {
		t.Errorf("%s: %q, want %q", got[1].Name, got[1].fill(8084), want)
	}
	got, err = ParseServers([]string{"a=http://10.0.0.5:8080", "b=http://example.org/"})
	if err != nil || got[0].URL != "http://10.0.0.5:8080" || got[1].URL != "http://example.org:80" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestServersThatRunAreNamedByWhatIsReadOfThem(t *testing.T) {
	got, err := ParseServers([]string{"a=pid:12@127.0.0.1:8080", "b=cgroup:/system.slice/a@1.service@h:2",
		"c=cgroup:/web@http://h:3"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][2]string{{"pid:12", "http://127.0.0.1:8080"}, {"cgroup:/system.slice/a@1.service", "http://h:2"},
		{"cgroup:/web", "http://h:3"}} {
		if s := got[i]; s.Subject != want[0] || s.URL != want[1] || !s.Costed() {
			t.Errorf("%+v, want %q", s, want)
		}
	}
}

func TestServersSpeakTLSByTheirAddressesOrByTheFlag(t *testing.T) {
	const both = "both are asked alike"
	for _, c := range []struct {
		args []string
		flag bool
		tls  bool
		says string
	}{
		{[]string{"a=https://h", "b=https://h:2"}, false, true, ""},
		{[]string{"a=http://h", "b=http://h:2"}, false, false, ""},
		{[]string{"a=pid:1@https://h:1", "b=pid:1@https://h:2"}, false, true, ""},
		{[]string{"a=./a {port}", "b=./b {port}"}, true, true, ""},
		{[]string{"a=./a {port}", "b=./b {port}"}, false, false, ""},
		{[]string{"a=https://h:1", "b=http://h:2"}, false, false, both},
		{[]string{"a=pid:1@h:1", "b=pid:1@h:2"}, true, false, "write https://h:1"},
	} {
		servers, err := ParseServers(c.args)
		if err != nil {
			t.Fatal(err)
		}
		tls, err := Secure(servers, c.flag)
		if tls != c.tls || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, %v, want %v, %q", c.args, tls, err, c.tls, c.says)
		}
		if addr := servers[0].address(); strings.Contains(addr, "/") {
			t.Errorf("%q: %q", c.args, addr)
		}
	}
	if s, _ := (Server{}).at("https://h"); s.URL != "https://h:443" {
		t.Error(s.URL)
	}
}

func TestTheCommandOfTwoRevisions(t *testing.T) {
	for _, args := range [][]string{{"./server", "--addr", "{addr}", "it's"}, {`./server --addr {addr} "it's"`}} {
		got, err := ParseRevisions(args)
		if err != nil || len(got) != 2 || got[0].Name != "base" || got[1].Name != "head" ||
			!slices.Equal(got[1].Command, []string{"./server", "--addr", "{addr}", "it's"}) {
			t.Errorf("%q: %+v, %v", args, got, err)
		}
	}
	for says, args := range map[string][]string{"neither {port} nor {addr}": {"./server"},
		"--base starts a server of each revision": {"http://h:1"}} {
		if _, err := ParseRevisions(args); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
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
		{[]string{"a=ftp://h:1", "b=https://h:2"}, "a: ftp is not spoken here"},
		{[]string{"a=https://h:1/path", "b=https://h:2"}, "here only https://HOST:PORT"},
		{[]string{"a=http://h:1/path", "b=http://h:2"}, "give the path by --url"},
		{[]string{"a=./a {bogus} {addr}", fine}, "a: nothing is filled in for {bogus}"},
		{[]string{"a=./a {workers} {addr}", fine}, "a: nothing is filled in for {workers}"},
		{[]string{"a=unix:/run/a.sock", fine}, "a: there is no socket /run/a.sock"},
		{[]string{"a=http://", "b=http://h:2"}, "is no address"},
		{[]string{"a=pid:12", "b=http://h:2"}, "write where it listens as well, as a=pid:12@HOST:PORT"},
		{[]string{"a=pid:12@", "b=http://h:2"}, "write where it listens as well"},
		{[]string{"a=pid:nginx@h:1", "b=http://h:2"}, `"nginx" is no process id; write a=pid:1234@HOST:PORT`},
		{[]string{"a=cgroup:/x@h:1/path", "b=http://h:2"}, "give the path by --url"},
		{[]string{"a=pid:12@h:1", "b=http://h:2"}, "the CPU time of one of a and b can be read and that of the other cannot"},
		{[]string{"a=pid:12@h:1", fine}, "a runs already and another is to be started"},
	} {
		if _, err := ParseServers(c.args); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.args, err, c.says)
		}
	}
}

func TestACommandLineCanBeTypedAgain(t *testing.T) {
	words := []string{"linerate", "compare", "--url", "/a?b=1", "old=./s --port {port}", "it's"}
	got := Shell(words)
	if want := `linerate compare --url '/a?b=1' 'old=./s --port {port}' 'it'"'"'s'`; got != want {
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
	fine := Options{Path: "/a", Servers: make([]Server, 2), Connections: 4, Pipelining: 1, Margin: 0.03,
		Ready: time.Second}
	if err := fine.Check(); err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(*Options){
		"--no-keepalive": func(o *Options) { o.Close, o.LineRate = true, 1e9 },
		"add --insecure": func(o *Options) { o.Way.TLS, o.LineRate = true, 1e9 },
		"with a new connection for each request there is one in flight": func(o *Options) { o.Close, o.Pipelining = true, 2 },
		"--connections": func(o *Options) { o.Connections = 0 },
		"--pipelining":  func(o *Options) { o.Pipelining = 5000 },
		"--rate":        func(o *Options) { o.Rate = -1 },
		"--fail-above":  func(o *Options) { o.FailAbove = -2 },
		"--ready 0s":    func(o *Options) { o.Ready = 0 },
		"--warmup":      func(o *Options) { o.Warmup = time.Hour },
		"address alone": func(o *Options) { o.Servers[0].URL, o.FailAbove = "http://h:1", 1.05 },
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
		{[]float64{50_000, 40_000}, 20 * time.Millisecond},
		{[]float64{50_000, 640}, 200 * time.Millisecond}, // 128 requests, four for each in flight
		{[]float64{10}, 2 * time.Second},
		{[]float64{0}, 20 * time.Millisecond},
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

// A block is as long as the budget allows, and with slow servers no longer than it has to be.
func TestABlockHasAsManyRoundsAsTheBudgetAllows(t *testing.T) {
	for _, c := range []struct {
		slot, budget time.Duration
		servers      int
		want         int
	}{
		{20 * time.Millisecond, 20 * time.Second, 2, 20}, {40 * time.Millisecond, 20 * time.Second, 2, 10},
		{20 * time.Millisecond, time.Minute, 2, 33}, {20 * time.Millisecond, time.Minute, 9, 20},
		{20 * time.Millisecond, 3 * time.Minute, 2, 100}, {20 * time.Millisecond, time.Hour, 2, 100},
		{90 * time.Millisecond, time.Minute, 2, 7}, {2 * time.Second, time.Minute, 2, 7},
	} {
		if got := rounds(c.slot, c.budget, c.servers); got != c.want {
			t.Errorf("%d servers, slots of %v in %v: %d rounds, want %d", c.servers, c.slot, c.budget, got, c.want)
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
	if err != nil || first+n > ephemeral() || Listenable(first, n) != nil {
		t.Fatal(first, err)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(first+1)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if got := Listenable(first, n); got == nil ||
		!strings.HasPrefix(got.Error(), fmt.Sprintf("port %d is taken", first+1)) {
		t.Errorf("%d is taken: %v", first+1, got)
	}
	// Nothing listens on a port that is for root only.
	if got := unlistenable(80, &net.OpError{Op: "listen",
		Err: os.NewSyscallError("bind", syscall.EACCES)}).Error(); strings.Contains(got, "taken") ||
		!strings.Contains(got, "port 80 is for root only") {
		t.Error(got)
	}
}

func TestWhatIsAskedIsTheTargetOfARequest(t *testing.T) {
	many := load.Target{Requests: slices.Repeat([]load.Request{{Method: "GET", Path: "/"}}, load.MaxRequests+1)}
	if err := many.CheckRequests(); err == nil || !strings.Contains(err.Error(), "requests: there are 65") {
		t.Error(err)
	}
	for _, path := range []string{"/", "/a/b.html", "/a?x=1&y=2", "/a%20b", "/~u/a:b@c,d;e=f+g!$'()*", "/find?q=a%2Fb/c?d",
		"//a"} {
		if err := (&load.Request{Method: "GET", Path: path}).Valid(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for path, says := range map[string]string{
		"a": "give what follows the host", "": "give what follows", "http://h/a": "give what follows",
		"/a b": "with %20", "/a|b": "with %20", "/é": "with %20", "/a\x1b[2J": "with %20", "/a\r\nX: y": "with %20", "/100%": "with %20",
		"/a%zz": "with %20", "/a#b": "with %20",
		"/" + strings.Repeat("a", 100_000): "100001 characters",
	} {
		err := (&load.Request{Method: "GET", Path: path}).Valid()
		if err == nil || !strings.Contains(err.Error(), says) || len(err.Error()) > 300 ||
			strings.ContainsAny(err.Error(), "\x1b\r\n") {
			t.Errorf("%.20q: %v, want %q", path, err, says)
		}
	}
	// The run asks for it as it was given.
	o := options("old", "new")
	o.Path = "/a?x=1&y=%20"
	if _, err := o.Design("/", 50*time.Millisecond, nil); err != nil {
		t.Error(err)
	}
	if got := o.target(Server{Name: "old"}, "h:1").URL; got != "http://h:1/a?x=1&y=%20" {
		t.Error(got)
	}
}

func TestABlockTakesAsLongAsItsServersStart(t *testing.T) {
	const s = time.Second
	for _, c := range []struct {
		looks []Look
		cores int
		want  time.Duration
	}{
		// Three starts, the control's among them, take turns on one core.
		{[]Look{{Start: 2 * s, StartCPU: 2 * s, Stop: s}, {Start: s, StartCPU: s}}, 1, 6 * s},
		{[]Look{{Start: 2 * s, StartCPU: 2 * s, Stop: s}, {Start: s, StartCPU: s}}, 5, 3 * s},
		// What only waits waits beside the others.
		{[]Look{{Start: 2 * s}, {Start: 3 * s}}, 1, 3 * s},
		{[]Look{{}, {}}, 0, 0},
	} {
		if got := Starting(c.looks, c.cores); got != c.want {
			t.Errorf("%v on %d cores: %v, want %v", c.looks, c.cores, got, c.want)
		}
	}
}

func TestWhatAServerPrintsForEachRequestGoesNowhere(t *testing.T) {
	o := options("old", "new")
	x, err := o.Design("/a dir", 50*time.Millisecond,
		[]Look{{Answers: make([]probe.Given, 8), Lines: 1}, {Answers: make([]probe.Given, 8), Lines: 8}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"/bin/true 8083",
		`sh -c exec "$@" >/dev/null 2>&1 sh /bin/true 8084`} {
		words, _ := x.Server(x.Conditions()[i]).Line(experiment.Place{Host: loopback, Port: strconv.Itoa(8083 + i)}, nil)
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
