// Package h2 is the client's side of a connection in HTTP/2, for package load. It is beside
// load, which does without it, because golang.org/x/net brings the whole of net/http along.
//
//	load.Run(ctx, plan, load.Options{HTTP2: h2.New})
package h2

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/line-rate/line-rate/lab/load"
)

const (
	mostFrame   = 16 << 10 // of what a frame of the server may hold, the protocol's default
	mostHead    = 32 << 10 // of one answer's fields, packed
	tableSize   = 4096     // of each side's table of fields, the protocol's default
	firstWindow = 65535    // the protocol's own, before anybody says otherwise
	mostWindow  = 1<<31 - 1
	window      = 1<<30 - 1 // that the server may fill, of a stream and of the connection
)

// A stream is one request in flight, or a place for one.
type stream struct {
	id     uint32 // 0: no request
	of     *request
	keep   bool
	status int    // of the final head; 0: it has not come
	length int64  // that its head announced; -1: none
	amiss  error  // what is wrong with its head, by the request's check
	got    int64  // of the body
	taken  int64  // of the window since it was last opened
	size   int64  // of the answer on the connection
	body   []byte // of the answer
	unsent []byte // of the request's body
	window int64  // for it
}

// A session is a connection.
type session struct {
	requests []request
	frames   *http2.Framer
	in, out  bytes.Buffer
	ready    bool
	leaving  bool           // the server takes no more requests
	upTo     uint32         // the last stream that it has taken, when it is leaving
	streams  []stream       // by place
	at       map[uint32]int // places by the numbers of streams
	next     uint32
	taken    int64 // of the connection's window since it was last opened
	window   int64 // for requests' bodies
	first    int64 // each stream's window for them, at its beginning
	largest  int   // frame that the server takes
	answer   load.Answer

	packer  *hpack.Encoder
	packed  bytes.Buffer
	heads   *hpack.Decoder
	head    []byte              // of one that goes on in the next frame
	headEnd bool                // it ends its stream
	fields  []hpack.HeaderField // of the head that was read last
}

// New is the client's side of a new connection to a target.
func New(t load.Target) (load.Session, error) {
	requests, err := prepare(t)
	if err != nil {
		return nil, err
	}
	s := &session{requests: requests, at: map[uint32]int{}, next: 1, window: firstWindow, first: firstWindow,
		largest: mostFrame, streams: make([]stream, t.Pipelining)}
	s.packer = hpack.NewEncoder(&s.packed)
	s.heads = hpack.NewDecoder(tableSize, func(f hpack.HeaderField) { s.fields = append(s.fields, f) })
	s.heads.SetMaxStringLength(mostHead)
	s.frames = http2.NewFramer(&s.out, &s.in)
	s.frames.SetMaxReadFrameSize(mostFrame)
	s.frames.SetReuseFrames()
	s.out.WriteString(http2.ClientPreface)
	// What the Framer writes goes into memory, so here and below it gives no error.
	_ = s.frames.WriteSettings(http2.Setting{ID: http2.SettingEnablePush, Val: 0},
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
	return s, s.frames.WriteWindowUpdate(0, window-firstWindow)
}

func (s *session) Ready() bool        { return s.ready }
func (s *session) Leaving() bool      { return s.leaving }
func (s *session) Out() *bytes.Buffer { return &s.out }
func (s *session) Take(in []byte)     { s.in.Write(in) }

func (s *session) Between() bool {
	return s.in.Len() == 0 && !slices.ContainsFunc(s.streams, func(st stream) bool { return st.size > 0 })
}

func (s *session) Ask(place, of int, keep bool) error {
	r := &s.requests[of]
	st := &s.streams[place]
	*st = stream{id: s.next, of: r, keep: keep, length: -1, body: st.body[:0], unsent: r.Body, window: s.first}
	s.at[st.id] = place
	s.next += 2
	s.packed.Reset()
	for _, f := range r.fields {
		_ = s.packer.WriteField(f) // into memory
	}
	part := s.packed.Next(s.largest)
	err := s.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: st.id, BlockFragment: part,
		EndStream: len(r.Body) == 0, EndHeaders: s.packed.Len() == 0})
	for err == nil && s.packed.Len() > 0 {
		part = s.packed.Next(s.largest)
		err = s.frames.WriteContinuation(st.id, s.packed.Len() == 0, part)
	}
	s.send(st)
	return err
}

// send sends what the windows allow of a request's body.
func (s *session) send(st *stream) {
	for len(st.unsent) > 0 && st.window > 0 && s.window > 0 {
		n := min(int64(len(st.unsent)), int64(s.largest), st.window, s.window)
		part := st.unsent[:n]
		st.unsent, st.window, s.window = st.unsent[n:], st.window-n, s.window-n
		_ = s.frames.WriteData(st.id, len(st.unsent) == 0, part)
	}
}

// finish is the answer of a stream that has ended, and frees its place. The answer's body
// holds until that is asked again.
func (s *session) finish(place int, body []byte, err error) *load.Answer {
	st := &s.streams[place]
	s.answer = load.Answer{Place: place, Status: st.status, Length: st.got, Size: st.size, Body: body, Amiss: st.amiss,
		Err: err}
	if len(st.unsent) > 0 && err == nil { // it waited for no more of the request
		_ = s.frames.WriteRSTStream(st.id, http2.ErrCodeCancel)
	}
	delete(s.at, st.id)
	*st = stream{body: st.body[:0]}
	return &s.answer
}

const headOfFrame = 9

func (s *session) Next() (*load.Answer, error) {
	if s.leaving { // streams above the last that it has taken will have no answer
		for place := range s.streams {
			if s.streams[place].id > s.upTo {
				a := s.finish(place, nil, nil)
				a.Again = true
				return a, nil
			}
		}
	}
	for s.in.Len() >= headOfFrame {
		begin := s.in.Bytes()
		length := int(binary.BigEndian.Uint32(begin) >> 8)
		switch {
		case !s.ready && bytes.HasPrefix(begin, []byte("HTTP/1.")):
			return nil, errors.New("it answers in HTTP/1, and not in HTTP/2")
		case !s.ready && http2.FrameType(begin[3]) != http2.FrameSettings:
			return nil, fmt.Errorf("no HTTP/2: it begins with %.40q", begin)
		case length > mostFrame:
			return nil, fmt.Errorf("a frame of %d bytes, where %d were allowed", length, mostFrame)
		case len(begin) < headOfFrame+length:
			return nil, nil
		}
		f, err := s.frames.ReadFrame()
		if err != nil {
			if more := s.frames.ErrorDetail(); more != nil {
				err = more
			}
			return nil, fmt.Errorf("a frame that cannot be: %w", err)
		}
		if a, err := s.take(f, int64(headOfFrame+length)); a != nil || err != nil {
			return a, err
		}
	}
	return nil, nil
}

// take carries out what a frame says.
func (s *session) take(f http2.Frame, size int64) (*load.Answer, error) {
	id := f.Header().StreamID
	place, open := s.at[id]
	if open {
		s.streams[place].size += size
	} else if id%2 == 1 && id >= s.next {
		return nil, errors.New("an answer that nobody asked for")
	}
	switch f := f.(type) {
	case *http2.HeadersFrame:
		s.headEnd = f.StreamEnded()
		return s.headed(place, open, append(s.head[:0], f.HeaderBlockFragment()...), f.HeadersEnded())
	case *http2.ContinuationFrame:
		return s.headed(place, open, append(s.head, f.HeaderBlockFragment()...), f.HeadersEnded())
	case *http2.DataFrame:
		return s.data(f, place, open)
	case *http2.RSTStreamFrame:
		if open {
			return s.finish(place, nil, fmt.Errorf("the server reset a stream (%v), after %d bytes of body", f.ErrCode,
				s.streams[place].got)), nil
		}
	case *http2.SettingsFrame:
		if !f.IsAck() {
			return nil, s.settings(f)
		}
	case *http2.PingFrame:
		if !f.IsAck() {
			return nil, s.frames.WritePing(true, f.Data)
		}
	case *http2.WindowUpdateFrame:
		of := &s.window
		switch {
		case open:
			of = &s.streams[place].window
		case id != 0:
			return nil, nil // of a stream that has ended
		}
		if *of += int64(f.Increment); *of > mostWindow {
			return nil, errors.New("a window of more than 2^31-1 bytes")
		}
		s.sendAll()
	case *http2.GoAwayFrame:
		if f.ErrCode == http2.ErrCodeNo {
			s.leaving, s.upTo = true, f.LastStreamID
			return s.Next()
		}
		return nil, fmt.Errorf("%w (GOAWAY, %v %.80q)", load.ErrEnded, f.ErrCode, f.DebugData())
	case *http2.PushPromiseFrame:
		return nil, errors.New("a pushed answer, which the settings had refused")
	}
	return nil, nil
}

// sendAll goes on with the bodies that waited for a window.
func (s *session) sendAll() {
	for i := range s.streams {
		s.send(&s.streams[i])
	}
}

// headed reads a head, if it is whole: a final one, an interim one or a trailer.
func (s *session) headed(place int, open bool, block []byte, whole bool) (*load.Answer, error) {
	s.head = block
	switch {
	case len(block) > mostHead:
		return nil, fmt.Errorf("a head of more than %d bytes", mostHead)
	case !whole:
		return nil, nil
	}
	s.fields = s.fields[:0]
	_, err := s.heads.Write(block)
	status, length, wrong := s.said()
	if err = errors.Join(err, s.heads.Close(), wrong); err != nil || !open {
		return nil, err
	}
	st := &s.streams[place]
	switch {
	case st.status != 0 && !s.headEnd:
		return nil, errors.New("a second head, within a body")
	case st.status != 0: // a trailer
	case status == 0 || status == http.StatusSwitchingProtocols:
		return nil, fmt.Errorf("a head with a status of %d", status)
	case status < 200 && !s.headEnd:
		return nil, nil // an interim answer; the final one follows
	default:
		st.status, st.length, st.amiss = status, length, st.of.Check.HeadFault(s.values)
	}
	if s.headEnd {
		return s.ended(place, st.body), nil
	}
	return nil, nil
}

// data takes a part of a body.
func (s *session) data(f *http2.DataFrame, place int, open bool) (*load.Answer, error) {
	n := int64(f.Length) // padding too is of the window
	if s.taken += n; s.taken >= window/2 {
		_ = s.frames.WriteWindowUpdate(0, uint32(s.taken))
		s.taken = 0
	}
	if !open {
		return nil, nil
	}
	st, part := &s.streams[place], f.Data()
	if st.status == 0 {
		return nil, errors.New("a body before its head")
	}
	if st.got += int64(len(part)); st.got > load.MaxKept {
		st.keep = false
	}
	switch {
	case f.StreamEnded() && st.got == int64(len(part)):
		return s.ended(place, part), nil // no need for a copy
	case st.keep:
		st.body = append(st.body, part...)
	}
	if f.StreamEnded() {
		return s.ended(place, st.body), nil
	}
	if st.taken += n; st.taken >= window/2 {
		_ = s.frames.WriteWindowUpdate(st.id, uint32(st.taken))
		st.taken = 0
	}
	return nil, nil
}

// ended is the answer of a stream that the server has ended.
func (s *session) ended(place int, body []byte) *load.Answer {
	st := &s.streams[place]
	switch {
	case st.length >= 0 && st.length != st.got && st.status != http.StatusNotModified && st.of.Method != http.MethodHead:
		return s.finish(place, nil, fmt.Errorf("%d bytes of body, where content-length says %d", st.got, st.length))
	case !st.keep:
		body = nil
	case body == nil:
		body = []byte{}
	}
	return s.finish(place, body, nil)
}

// settings takes what the server allows.
func (s *session) settings(f *http2.SettingsFrame) error {
	s.ready = true
	_ = s.frames.WriteSettingsAck()
	return f.ForeachSetting(func(v http2.Setting) error {
		if err := v.Valid(); err != nil {
			return fmt.Errorf("a setting that cannot be: %v", v)
		}
		switch v.ID {
		case http2.SettingMaxConcurrentStreams:
			if int64(v.Val) < int64(len(s.streams)) {
				return fmt.Errorf("it takes %d requests at a time on a connection (SETTINGS_MAX_CONCURRENT_STREAMS), and %d "+
					"were to be in flight", v.Val, len(s.streams))
			}
		case http2.SettingInitialWindowSize:
			for i := range s.streams {
				s.streams[i].window += int64(v.Val) - s.first
			}
			s.first = int64(v.Val)
			s.sendAll()
		case http2.SettingMaxFrameSize:
			s.largest = int(v.Val)
		case http2.SettingHeaderTableSize:
			s.packer.SetMaxDynamicTableSizeLimit(v.Val)
		}
		return nil
	})
}
