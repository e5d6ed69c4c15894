package h2

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/line-rate/line-rate/lab/load"
)

// A peer is the server's side of a session, frame by frame.
type peer struct {
	t    testing.TB
	s    *session
	says bytes.Buffer
	w    *http2.Framer
	enc  *hpack.Encoder
	head bytes.Buffer
}

func meet(t testing.TB, target load.Target) *peer {
	t.Helper()
	s, err := New(target)
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, s: s.(*session)}
	p.w = http2.NewFramer(&p.says, nil)
	p.w.AllowIllegalWrites = true
	p.enc = hpack.NewEncoder(&p.head)
	return p
}

// ready is a peer that has greeted.
func ready(t testing.TB, target load.Target, settings ...http2.Setting) *peer {
	t.Helper()
	p := meet(t, target)
	_ = p.w.WriteSettings(settings...)
	if _, err := p.give(); err != nil || !p.s.Ready() {
		t.Fatalf("the greeting: %v", err)
	}
	return p
}

// fields packs a head.
func (p *peer) fields(pairs ...string) []byte {
	p.head.Reset()
	for i := 0; i < len(pairs); i += 2 {
		_ = p.enc.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return p.head.Bytes()
}

func (p *peer) headers(id uint32, end bool, pairs ...string) {
	_ = p.w.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: p.fields(pairs...), EndStream: end,
		EndHeaders: true})
}

// give has the session read what was written, and returns its answers, with their bodies kept.
func (p *peer) give() (all []load.Answer, err error) {
	return feed(p.s, p.says.Next(p.says.Len()), 1<<20)
}

// feed has a session read a stream in pieces.
func feed(s *session, in []byte, piece int) (all []load.Answer, err error) {
	for len(in) > 0 {
		n := min(piece, len(in))
		s.Take(bytes.Clone(in[:n]))
		in = in[n:]
		for {
			a, err := s.Next()
			if err != nil {
				return all, err
			}
			if a == nil {
				break
			}
			one := *a
			one.Body = bytes.Clone(a.Body)
			all = append(all, one)
		}
	}
	return all, nil
}

// heard are the frames that the session has said.
func (p *peer) heard() (all []string) {
	text := bytes.TrimPrefix(p.s.Out().Next(p.s.Out().Len()), []byte(http2.ClientPreface))
	r := http2.NewFramer(io.Discard, bytes.NewReader(text))
	for {
		f, err := r.ReadFrame()
		if err != nil {
			if err != io.EOF {
				p.t.Errorf("what the session said: %v", err)
			}
			return all
		}
		switch f := f.(type) {
		case *http2.DataFrame:
			all = append(all, fmt.Sprintf("DATA %d %d %v", f.StreamID, len(f.Data()), f.StreamEnded()))
		case *http2.WindowUpdateFrame:
			all = append(all, fmt.Sprintf("WINDOW_UPDATE %d %d", f.StreamID, f.Increment))
		case *http2.RSTStreamFrame:
			all = append(all, fmt.Sprintf("RST_STREAM %d %v", f.StreamID, f.ErrCode))
		default:
			all = append(all, f.Header().Type.String())
		}
	}
}

func (p *peer) ask(n int) {
	p.t.Helper()
	for range n {
		place := slices.IndexFunc(p.s.streams, func(st stream) bool { return st.id == 0 })
		if err := p.s.Ask(place, 0, true); err != nil {
			p.t.Fatal(err)
		}
	}
}

func get(pipelining int) load.Target {
	return load.Target{URL: "http://127.0.0.1:1/a?b", Connections: 1, Pipelining: pipelining}
}

// Answers come in any order, in parts, with interim heads, trailers and padding, however the
// stream is cut.
func TestAnswersHoweverTheyAreCut(t *testing.T) {
	for piece := 1; piece < 300; piece += 1 + piece/10 {
		p := ready(t, get(5))
		p.ask(5)
		p.headers(3, false, ":status", "103", "link", "x")
		p.headers(5, true, ":status", "204")
		p.headers(3, false, ":status", "200", "content-length", "8")
		_ = p.w.WriteData(3, false, []byte("hell"))
		p.headers(1, false, ":status", "500")
		_ = p.w.WriteDataPadded(3, false, []byte("o th"), []byte{0, 0, 0})
		_ = p.w.WriteData(3, true, nil)
		_ = p.w.WritePing(false, [8]byte{1})
		block := bytes.Clone(p.fields(":status", "404", "content-length", "2", "x-long", strings.Repeat("x", 200)))
		_ = p.w.WriteHeaders(http2.HeadersFrameParam{StreamID: 7, BlockFragment: block[:9]})
		_ = p.w.WriteContinuation(7, true, block[9:])
		_ = p.w.WriteData(7, true, []byte("no"))
		_ = p.w.WriteData(1, false, []byte("x"))
		p.headers(1, true, "grpc-status", "0")
		_ = p.w.WriteRSTStream(9, http2.ErrCodeInternal)
		in := p.says.Next(p.says.Len())
		p.heard()
		all, err := feed(p.s, in, piece)
		got := ""
		for _, a := range all {
			got += fmt.Sprintf("%d %q %d %v; ", a.Status, a.Body, a.Length, a.Err)
		}
		want := `204 "" 0 <nil>; 200 "hello th" 8 <nil>; 404 "no" 2 <nil>; 500 "x" 1 <nil>; ` +
			`0 "" 0 the server reset a stream (INTERNAL_ERROR), after 0 bytes of body; `
		if got != want || err != nil || !p.s.Between() {
			t.Fatalf("pieces of %d: %s, %v\nwant %s", piece, got, err, want)
		}
		if said := p.heard(); len(said) != 1 || said[0] != "PING" {
			t.Fatalf("pieces of %d: said %q", piece, said)
		}
		p.ask(5) // all places are free again
		if short, err := feed(p.s, in[:20], 7); err != nil || len(short) > 0 || p.s.Between() {
			t.Fatalf("%v, %v: half a frame", short, err)
		}
	}
}

func TestWhatAServerMayNotSay(t *testing.T) {
	for _, c := range []struct {
		name string
		say  func(p *peer)
		want string
	}{
		{"GOAWAY", func(p *peer) { _ = p.w.WriteGoAway(1, http2.ErrCodeEnhanceYourCalm, []byte("too_many_pings")) },
			`the server ended the connection (GOAWAY, ENHANCE_YOUR_CALM "too_many_pings")`},
		{"a stream nobody opened", func(p *peer) { p.headers(9, true, ":status", "200") }, "nobody asked for"},
		{"no status", func(p *peer) { p.headers(1, true, "a", "b") }, "a status of 0"},
		{"a status that is none", func(p *peer) { p.headers(1, true, ":status", "2x0") }, `a status of "2x0"`},
		{"two statuses", func(p *peer) { p.headers(1, true, ":status", "200", ":status", "200") }, "a second one"},
		{"101", func(p *peer) { p.headers(1, false, ":status", "101") }, "a status of 101"},
		{"two lengths", func(p *peer) { p.headers(1, true, ":status", "200", "content-length", "1", "content-length", "2") },
			"content-length"},
		{"a second head", func(p *peer) {
			p.headers(1, false, ":status", "200")
			p.headers(1, false, ":status", "200")
		}, "a second head"},
		{"a body before the head", func(p *peer) { _ = p.w.WriteData(1, true, []byte("x")) }, "a body before its head"},
		{"a push", func(p *peer) {
			_ = p.w.WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2, BlockFragment: p.fields(":path", "/"),
				EndHeaders: true})
		}, "a pushed answer"},
		{"a frame within a head", func(p *peer) {
			_ = p.w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: p.fields(":status", "200")})
			_ = p.w.WriteData(1, true, nil)
		}, "expected CONTINUATION"},
		{"a head without end", func(p *peer) {
			_ = p.w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: make([]byte, 16000)})
			_ = p.w.WriteContinuation(1, false, make([]byte, 16000))
			_ = p.w.WriteContinuation(1, false, make([]byte, 16000))
		}, "a head of more than"},
		{"a head that is no head", func(p *peer) {
			_ = p.w.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0xff, 0xff, 0xff}, EndHeaders: true})
		}, "truncated headers"},
		{"a frame too long", func(p *peer) { _ = p.w.WriteData(1, true, make([]byte, 20000)) }, "a frame of 20000 bytes"},
		{"a length that is none", func(p *peer) { _ = p.w.WriteRawFrame(http2.FramePing, 0, 0, []byte("x")) },
			"a frame that cannot be"},
		{"a window that bursts", func(p *peer) { _ = p.w.WriteWindowUpdate(0, 1<<31-1) }, "a window of more than"},
		{"fewer streams", func(p *peer) {
			_ = p.w.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1})
		}, "it takes 1 requests at a time on a connection (SETTINGS_MAX_CONCURRENT_STREAMS), and 2 were to be in flight"},
		{"a setting that is none", func(p *peer) {
			_ = p.w.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1})
		}, "a setting that cannot be"},
	} {
		p := ready(t, get(2))
		p.ask(2)
		c.say(p)
		if all, err := p.give(); err == nil || !strings.Contains(err.Error(), c.want) || len(all) > 0 {
			t.Errorf("%s: %v, %v; want %q", c.name, all, err, c.want)
		}
	}
	// One answer alone is wrong.
	p := ready(t, get(2))
	p.ask(2)
	p.headers(1, false, ":status", "200", "content-length", "3")
	_ = p.w.WriteData(1, true, []byte("four"))
	p.headers(3, true, ":status", "200")
	all, err := p.give()
	if err != nil || len(all) != 2 || fmt.Sprint(all[0].Err) != "4 bytes of body, where content-length says 3" ||
		all[1].Err != nil {
		t.Errorf("%v, %v", all, err)
	}
	for text, want := range map[string]string{
		"HTTP/1.1 400 Bad Request\r\n\r\n": "it answers in HTTP/1, and not in HTTP/2", "220 mail.example.org ESMTP": "it begins with",
	} {
		p := meet(t, get(1))
		p.says.WriteString(text)
		if _, err := p.give(); err == nil || !strings.Contains(err.Error(), want) || p.s.Ready() {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A request's body waits for the server's windows, of its stream and of the connection.
func TestBodiesWaitForWindows(t *testing.T) {
	target := get(2)
	target.Requests = []load.Request{{Method: "POST", Path: "/x", Body: make([]byte, 40_000)}}
	p := ready(t, target, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 30_000})
	p.heard()
	p.ask(2)
	expect := func(what string, want ...string) {
		t.Helper()
		if _, err := p.give(); err != nil {
			t.Fatal(err)
		}
		if got := p.heard(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: said %q, want %q", what, got, want)
		}
	}
	expect("at first", "HEADERS", "DATA 1 16384 false", "DATA 1 13616 false", "HEADERS", "DATA 3 16384 false",
		"DATA 3 13616 false")
	_ = p.w.WriteWindowUpdate(3, 10_000)
	expect("a stream's window", "DATA 3 5535 false") // the connection's was of 65,535
	_ = p.w.WriteWindowUpdate(0, 5_000)
	expect("the connection's", "DATA 3 4465 true")
	_ = p.w.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 30_100})
	expect("a wider window for all", "SETTINGS", "DATA 1 100 false")
	_ = p.w.WriteWindowUpdate(0, 100_000)
	_ = p.w.WriteWindowUpdate(1, 100_000)
	expect("both", "DATA 1 9900 true")
	// An answer that waits for no more of the request ends it.
	p.headers(1, true, ":status", "200")
	p.headers(3, true, ":status", "200")
	expect("answers")
	p.ask(2)
	p.heard()
	p.headers(5, true, ":status", "413")
	p.headers(7, true, ":status", "200")
	expect("an early answer", "RST_STREAM 5 CANCEL", "RST_STREAM 7 CANCEL")
}

// The windows for answers are opened again before they are full, and what is no longer waited
// for counts towards the connection's.
func TestWindowsForAnswersAreOpenedAgain(t *testing.T) {
	p := ready(t, get(1))
	p.heard()
	p.ask(1)
	p.headers(1, false, ":status", "200")
	for range window/2/mostFrame + 1 {
		_ = p.w.WriteData(1, false, make([]byte, mostFrame))
		if _, err := p.give(); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.heard(); fmt.Sprint(got) != fmt.Sprintf("[HEADERS WINDOW_UPDATE 0 %[1]d WINDOW_UPDATE 1 %[1]d]",
		(window/2/mostFrame+1)*mostFrame) {
		t.Errorf("%q", got)
	}
	_ = p.w.WriteData(1, true, nil)
	all, err := p.give()
	if err != nil || len(all) != 1 || all[0].Body != nil || all[0].Length != (window/2/mostFrame+1)*mostFrame {
		t.Errorf("%v, %v", err, len(all))
	}
}
