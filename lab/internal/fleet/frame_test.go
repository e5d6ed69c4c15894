package fleet

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/load"
)

func hello() *Hello {
	return &Hello{Version: protocol, Profile: host.Profile{ID: "a"}, Machine: "m", CPUs: []int{0, 1}, Commit: "c",
		Binaries: map[string]host.Binary{"lab": {SHA256: strings.Repeat("a", 64)}}, Tools: map[string]string{"go": "1"},
		Kernel: map[string]string{"osrelease": "6"}}
}

// samples has a frame of each kind.
func samples() []frame {
	return []frame{
		{Kind: kindAsk, Ask: &Asked{Version: protocol, Address: "a"}}, {Kind: kindHello, Hello: hello()}, {Kind: kindHello},
		{Kind: kindClients, Hellos: []Hello{*hello()}}, {Kind: kindBeat}, {Kind: kindClock, ID: 1, WallNS: 5},
		{Kind: kindTrack, ID: 1, BoundS: new(0.1)},
		{Kind: kindClocks, ID: 2, Clocks: []Clock{{OffsetS: -1, UncertaintyS: 0.1, Method: "chrony"}}},
		{Kind: kindLoad, ID: 3, Client: 1, Load: &Load{LimitNS: 1,
			Plan: &load.Plan{Slots: []load.Slot{{AtNS: 1763889123517213641}}}}},
		{Kind: kindStarted, ID: 3}, {Kind: kindLine, ID: 3, Text: `{"slot":0}`}, {Kind: kindRelease, ID: 3},
		{Kind: kindStop, ID: 3, NS: 1},
		{Kind: kindEnded, ID: 3, Seen: &Seen{Metrics: map[string]float64{"client_steal": 0.5}, Cores: map[int]float64{0: 1},
			RxBytes: -1, TxBytes: -1}, Why: failed, Text: "why"},
		{Kind: kindLost, Client: 1}, {Kind: kindEnd}, {Kind: kindPrint, Text: "a\nb"},
		{Kind: kindKept, ID: 4, Files: []Kept{{"data/results/x/y.json", strings.Repeat("b", 64), 1}}},
		{Kind: kindFetch, ID: 4, Path: "data/results/x/y.json"},
		{Kind: kindData, ID: 4, Path: "data/results/x/y.json", Data: []byte{0, 255}},
		{Kind: kindTaken, ID: 4, Text: "no room"},
	}
}

func TestEachFrameIsOneLineAndIsReadAgain(t *testing.T) {
	for _, f := range samples() {
		line, err := f.line()
		if err != nil || bytes.Count(line, []byte("\n")) != 1 {
			t.Fatalf("%s: %q, %v", f.Kind, line, err)
		}
		got, err := parse(line)
		if err != nil {
			t.Fatalf("%s: %v", f.Kind, err)
		}
		again, _ := got.line()
		if !bytes.Equal(line, again) {
			t.Errorf("%s became %s", line, again)
		}
	}
}

func TestALineThatIsNoFrame(t *testing.T) {
	good, _ := json.Marshal(hello())
	for name, c := range map[string]struct{ line, want string }{
		"a banner":        {"Welcome!", `no frame: "Welcome!"`},
		"nothing":         {"", `no frame: ""`},
		"cut off":         {`{"kind":"beat"`, "no frame: line 1: the file ends in the middle"},
		"twice":           {`{"kind":"beat","kind":"end"}`, "stands twice"},
		"unknown kind":    {`{"kind":"shell"}`, "a frame shell: no such kind"},
		"unknown field":   {`{"kind":"beat","run":"rm"}`, `unknown field "run"`},
		"no id":           {`{"kind":"ended"}`, "it has no usable id"},
		"no load":         {`{"kind":"load","id":1}`, "it has no usable load"},
		"negative client": {`{"kind":"line","id":1,"client":-1}`, "out of its bounds"},
		"a path upwards": {`{"kind":"kept","id":1,"files":[{"path":"data/results/../../.ssh/x","sha256":"` +
			strings.Repeat("a", 64) + `","bytes":1}]}`, "is no file that a run adds"},
		"an absolute path": {`{"kind":"kept","id":1,"files":[{"path":"/etc/passwd","sha256":"` + strings.Repeat("a", 64) +
			`","bytes":1}]}`, "is no file that a run adds"},
		"a hidden file": {`{"kind":"kept","id":1,"files":[{"path":"data/results/.x","sha256":"` +
			strings.Repeat("a", 64) + `","bytes":1}]}`, "is no file that a run adds"},
		"no digest": {`{"kind":"kept","id":1,"files":[{"path":"data/results/x/y.json","sha256":"","bytes":1}]}`,
			"no usable digest"},
		"two lines": {`{"kind":"hello","hello":` +
			strings.Replace(string(good), `"commit":"c"`, `"commit":"c\nd"`, 1) + `}`, "has U+000A in it"},
		"no CPUs": {`{"kind":"hello","hello":` + strings.Replace(string(good), `"cpus":[0,1]`, `"cpus":[]`, 1) +
			`}`, "an impossible machine"},
		"a metric of code":  {`{"kind":"ended","id":1,"seen":{"metrics":{"<b>":1},"own":0,"cores":{},"stopped":false,"gap_s":0,"rx_bytes":0,"tx_bytes":0}}`, "a metric"},
		"an endless figure": {`{"kind":"ended","id":1,"ns":1e999}`, "beyond any figure"},
	} {
		if _, err := parse([]byte(c.line)); err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, one := range samples() {
		line, _ := one.line()
		f.Add(line)
	}
	f.Add([]byte(`{"kind":"hello","hello":null}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := parse(line)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r\x1b") {
				t.Errorf("an error of two lines, or with control characters: %q", err)
			}
			return
		}
		again, err := got.line()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(again); err != nil {
			t.Errorf("%s was read, and not again: %v", again, err)
		}
	})
}

// A reader of whatever comes ends with an error and takes no more memory than a
// frame may.
func TestAnEndlessLineEndsTheConnection(t *testing.T) {
	r, w := io.Pipe()
	c := newConn(discard{}, time.Now)
	c.begin(r, func(received) error { return nil })
	go func() {
		block := bytes.Repeat([]byte("x"), 1<<20)
		for {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}()
	if err := c.reason(); err == nil || !strings.Contains(err.Error(), "a line of more than") {
		t.Error(err)
	}
	r.Close()
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) Close() error                { return nil }
