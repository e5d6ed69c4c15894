package load

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// wholePlan is of two targets in turn, in five slots, the first of which does not count.
func wholePlan() *Plan {
	p := &Plan{Threads: 1, Raw: true, Targets: []Target{
		{Name: "a", URL: "http://127.0.0.1:1/simple", Connections: 4, Pipelining: 1, Processes: []int{7, 8}},
		{Name: "b", URL: "http://127.0.0.1:2/read", Connections: 4, Pipelining: 1, Rate: 100},
	}, Wire: &Wire{3, "s", "c"}}
	for i, target := range []int{0, 1, 0, 1, 0} {
		p.Slots = append(p.Slots, Slot{Target: target, Seconds: 0.1, Counts: i > 0, AtNS: int64(i+10) * 200e6, FillS: 0.05})
	}
	return p
}

// recorded is a histogram of times in ns.
func recorded(ns ...int64) *Histogram {
	h := NewHistogram()
	for _, v := range ns {
		h.Add(v)
	}
	return h
}

// partOf is a client's report of some slots of the whole plan: the client's clock is ahead
// by so much, and it made so many requests in each slot.
func partOf(name string, ahead, requests int64, slots ...int) Part {
	whole := wholePlan()
	p := Part{Name: name, AheadNS: ahead, Report: &Report{Held: true, Slots: []SlotReport{}}}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p.Report.Summary = Summary{Version: "v", Threads: 1, Start: at, Finish: at.Add(time.Second), LatencyStep: LatencyStep}
	for i, of := range slots {
		s := whole.Slots[of]
		own := slices.Index(p.Targets, s.Target)
		if own < 0 {
			own = len(p.Targets)
			p.Targets = append(p.Targets, s.Target)
			p.Report.Summary.Targets = append(p.Report.Summary.Targets, TargetSummary{Name: whole.Targets[s.Target].Name})
		}
		t := &p.Report.Summary.Targets[own]
		p.Slots = append(p.Slots, of)
		p.Report.Slots = append(p.Report.Slots,
			SlotReport{Slot: i, Target: own, AtNS: s.AtNS + ahead, Seconds: s.Seconds, FillS: 0.05,
				Requests: requests, Bytes: requests * 100, ServerCPUS: []float64{}, ClientCPUS: 0.04, BusiestThreadS: 0.03,
				SilenceS: 0.001, LateS: 0.0001})
		if s.Counts {
			t.Requests += requests
			t.Bytes += requests * 100
			if t.Histogram == nil {
				t.Histogram = NewHistogram()
			}
			for range requests {
				t.Histogram.Add(requests * 1000)
			}
			t.Latency = t.Histogram.Latency()
		}
	}
	return p
}

func merged(t *testing.T, parts ...Part) *Report {
	t.Helper()
	for _, p := range parts {
		again, err := ReadReport(strings.NewReader(lines(t, p.Report)))
		if err != nil || !reflect.DeepEqual(again, p.Report) {
			t.Fatalf("%s is no report: %v", p.Name, err)
		}
	}
	r, err := Merge(wholePlan(), parts, 5*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	filled(t, r)
	return r
}

// filled checks that a merged report belongs to the plan once those who read the servers'
// CPU times and the wire have filled them in.
func filled(t *testing.T, r *Report) {
	t.Helper()
	full := *r
	full.Slots = slices.Clone(r.Slots)
	for i := range full.Slots {
		if s := &full.Slots[i]; s.Failed == "" {
			s.ServerCPUS, s.Wire = make([]float64, len(wholePlan().Targets[s.Target].Processes)), &WireReport{}
		}
	}
	if err := full.Fits(wholePlan()); err != nil {
		t.Error(err)
	}
	if again, err := ReadReport(strings.NewReader(lines(t, &full))); err != nil || again.Held != r.Held {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestMergedReportsAddUp(t *testing.T) {
	a, b := partOf("client 1", 0, 10, 0, 1, 2, 3, 4), partOf("client 2", 7e9, 30, 0, 1, 2, 3, 4)
	b.Report.Slots[2].SilenceS, b.Report.Slots[2].BusiestThreadS, b.Report.Slots[3].LateS = 0.05, 0.09, 0.02
	b.Report.Summary.Targets[1].Errors, b.Report.Summary.Targets[1].Fault = 3, "closed"
	a.Report.Summary.Targets[0].Mismatches, a.Report.Summary.Targets[0].Mismatch = 2, "a byte"
	r := merged(t, a, b)
	for i, s := range r.Slots {
		if s.Failed != "" || s.Requests != 40 || s.Bytes != 4000 || s.AtNS != wholePlan().Slots[i].AtNS || s.Seconds != 0.1 ||
			s.ClientCPUS != 0.08 {
			t.Errorf("%+v", s)
		}
	}
	if s := r.Slots[2]; s.SilenceS != 0.05 || s.BusiestThreadS != 0.09 || s.LateS != 0.0001 {
		t.Errorf("%+v", s)
	}
	if !r.Held || r.Summary.Threads != 2 || r.Slots[3].LateS != 0.02 {
		t.Errorf("%+v", r)
	}
	if one := r.Summary.Targets[0]; one.Requests != 80 || one.Mismatches != 2 || one.Mismatch != "client 1: a byte" ||
		one.Latency.P50 != 0.00003 || one.Latency.Max != 0.00003 {
		t.Errorf("%+v, %+v", one, one.Latency)
	}
	if one := r.Summary.Targets[1]; one.Errors != 3 || one.Fault != "client 2: closed" {
		t.Errorf("%+v", one)
	}
}

// Each count of each kind adds up, and what is the worst of all is.
func TestEachCountAddsUp(t *testing.T) {
	a, b := partOf("client 1", 0, 10, 1), partOf("client 2", 0, 30, 1)
	for i, p := range []*Part{&a, &b} {
		k := int64(i + 1)
		one := &p.Report.Summary.Targets[0]
		one.Non2xx, one.Errors, one.Timeouts, one.Resets = 10*k, 20*k, 30*k, 40*k
		one.Mismatches, one.Mismatch, one.Compared, one.Unanswered = 50*k, "x", 60*k, 7*k
		one.Lags = recorded(1000*k, 1000*k)
		one.SendLag = one.Lags.SendLag()
		p.Report.Summary.Start = p.Report.Summary.Start.Add(time.Duration(-i) * time.Minute)
		p.Report.Summary.Finish = p.Report.Summary.Finish.Add(time.Duration(i) * time.Minute)
	}
	a.Report.Slots[0].LateS, a.Report.Slots[0].FillS, b.Report.Held = 0.03, 0.07, false
	r := merged(t, a, b)
	one := r.Summary.Targets[1]
	one.Histogram, one.Latency, one.Lags = nil, nil, nil
	want := TargetSummary{Name: "b", Requests: 40, Bytes: 4000, Non2xx: 30, Errors: 60, Timeouts: 90, Resets: 120,
		Mismatches: 150, Mismatch: "client 1: x", Compared: 180, Unanswered: 21,
		SendLag: &SendLag{0.000001, 0.000002, 0.000002}}
	if !reflect.DeepEqual(one, want) {
		t.Errorf("%+v, want %+v", one, want)
	}
	if s := r.Slots[1]; s.LateS != 0.03 || s.FillS != 0.07 || r.Held {
		t.Errorf("%+v, held: %v", s, r.Held)
	}
	if s := r.Summary; !s.Start.Equal(b.Report.Summary.Start) || !s.Finish.Equal(b.Report.Summary.Finish) {
		t.Errorf("from %v to %v", s.Start, s.Finish)
	}
}

// A client that does not load in a condition, or in a slot, is not missed there.
func TestAPartMayLackSlotsAndTargets(t *testing.T) {
	a, b := partOf("client 1", 0, 10, 0, 1, 2, 3, 4), partOf("client 2", 0, 30, 1, 3)
	r := merged(t, a, b)
	if r.Slots[0].Requests != 10 || r.Slots[1].Requests != 40 || r.Summary.Targets[0].Requests != 20 ||
		r.Summary.Targets[1].Requests != 80 {
		t.Errorf("%+v", r)
	}
	r = merged(t, b)
	if r.Slots[0].Failed != "nobody loaded its target" || r.Slots[1].Requests != 30 ||
		r.Summary.Targets[0].Latency != nil {
		t.Errorf("%+v", r)
	}
}

func TestASlotThatNotAllCounted(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(s *SlotReport)
	}{
		{"late", "client 2: began 1.93 s late", func(s *SlotReport) {
			*s = SlotReport{Slot: s.Slot, Target: s.Target, LateS: 1.93, Failed: "began 1.93 s late", ServerCPUS: []float64{}}
		}},
		{"apart", "client 2 began 6ms after client 1", func(s *SlotReport) { s.AtNS += 6e6 }},
		{"too short", "client 1 ended 6ms after client 2", func(s *SlotReport) { s.Seconds -= 0.006 }},
	} {
		a, b := partOf("client 1", 0, 10, 0, 1, 2, 3, 4), partOf("client 2", -1e9, 30, 0, 1, 2, 3, 4)
		c.change(&b.Report.Slots[2])
		t2 := &b.Report.Summary.Targets[0]
		if b.Report.Slots[2].Failed != "" {
			t2.Requests, t2.Bytes = 30, 3000
		}
		r := merged(t, a, b)
		if r.Slots[2].Failed != c.want || r.Slots[1].Failed+r.Slots[3].Failed != "" || r.Summary.Targets[0].Requests != 40 {
			t.Errorf("%s: %+v", c.name, r.Slots)
		}
	}
	// Less than that apart, a slot counts for the time that both counted.
	a, b := partOf("client 1", 0, 10, 2), partOf("client 2", 0, 30, 2)
	b.Report.Slots[0].AtNS += 4e6
	if s := merged(t, a, b).Slots[2]; s.Failed != "" || s.AtNS != wholePlan().Slots[2].AtNS+4e6 || s.Seconds != 0.096 {
		t.Errorf("%+v", s)
	}
	// However far apart they may be, they have to have counted together.
	b.Report.Slots[0].AtNS += 150e6
	if r, err := Merge(wholePlan(), []Part{a, b}, time.Second); err != nil ||
		r.Slots[2].Failed != "client 2 began after client 1 had ended" {
		t.Errorf("%+v, %v", r, err)
	}
	// Slots do not overlap, whoever counted them.
	a, b = partOf("client 1", 0, 10, 1), partOf("client 2", 110e6, 30, 2)
	b.AheadNS = 220e6
	if r := merged(t, a, b); r.Slots[1].Failed != "" || r.Slots[2].Failed != "it began before an earlier slot had ended" {
		t.Errorf("%+v", r.Slots)
	}
	// Two failed, and the first is named.
	a, b = partOf("client 1", 0, 10), partOf("client 2", 0, 30)
	for _, p := range []*Part{&a, &b} {
		p.Slots, p.Targets = []int{2}, []int{0}
		p.Report.Slots = []SlotReport{{Failed: "stalled", ServerCPUS: []float64{}}}
		p.Report.Summary.Targets = []TargetSummary{{Name: "a"}}
	}
	if s := merged(t, a, b).Slots[2]; s.Failed != "client 1: stalled (and 1 more failed)" {
		t.Errorf("%+v", s)
	}
}

func TestReportsThatDoNotBelongTogether(t *testing.T) {
	for want, change := range map[string]func(p *Part){
		"planned were 4":               func(p *Part) { p.Slots = p.Slots[1:] },
		"2 targets, planned were 1":    func(p *Part) { p.Targets = p.Targets[1:] },
		"slot 0 is slot 5":             func(p *Part) { p.Slots[0] = 5 },
		"slot 1 is slot 0":             func(p *Part) { p.Slots[1] = 0 },
		"not that of slot 1":           func(p *Part) { p.Slots[0] = 1 },
		"target 1 is target 0":         func(p *Part) { p.Targets[1] = 0 },
		"which there is not":           func(p *Part) { p.Targets[1] = 2 },
		`planned was "a"`:              func(p *Part) { p.Report.Summary.Targets[0].Name = "x" },
		"has to ask for raw":           func(p *Part) { p.Report.Summary.Targets[0].Histogram = nil },
		"in steps of 0.5":              func(p *Part) { p.Report.Summary.LatencyStep = 0.5 },
		`http_load "w"`:                func(p *Part) { p.Report.Summary.Version = "w" },
		"which no clock says":          func(p *Part) { p.AheadNS = 1 << 60 },
		"more than 4294967295 answers": func(p *Part) { p.Report.Summary.Targets[0].Histogram.n = MaxCounted },
		"without a name":               func(p *Part) { p.Name = "" },
	} {
		a, b := partOf("client 1", 0, 10, 0, 1, 2, 3, 4), partOf("client 2", 0, 30, 0, 1, 2, 3, 4)
		change(&b)
		if _, err := Merge(wholePlan(), []Part{a, b}, time.Second); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := Merge(wholePlan(), nil, 0); err == nil {
		t.Error("nothing was merged")
	}
}

// FuzzMerge makes two reports that may differ from the plan in many ways, and merges those
// that are reports.
func FuzzMerge(f *testing.F) {
	f.Add([]byte{0b11111, 0b01010}, int64(5), int64(-5), int64(1e6))
	f.Add([]byte{0b11111, 0b11111, 7, 3, 1, 9, 2, 0}, int64(5), int64(0), int64(1e9))
	f.Fuzz(func(t *testing.T, script []byte, ahead, shift, apart int64) {
		next := func() int {
			if len(script) == 0 {
				return 0
			}
			b := script[0]
			script = script[1:]
			return int(int8(b))
		}
		var parts []Part
		for _, name := range []string{"client 1", "client 2"} {
			var slots []int
			has := next()
			for i := range wholePlan().Slots {
				if has&(1<<i) != 0 {
					slots = append(slots, i)
				}
			}
			parts = append(parts, partOf(name, ahead, int64(next()), slots...))
			ahead = -ahead
		}
		for len(script) > 0 {
			p := &parts[next()&1]
			r := p.Report
			way, at, by := next(), next(), next()
			switch {
			case way&7 == 0 && len(p.Slots) > 0:
				p.Slots[max(at, 0)%len(p.Slots)] = by
			case way&7 == 1 && len(p.Targets) > 0:
				p.Targets[max(at, 0)%len(p.Targets)] = by
			case way&7 == 2:
				p.AheadNS = shift
			case way&7 == 3 && len(r.Slots) > 0:
				r.Slots[max(at, 0)%len(r.Slots)].AtNS += shift
			case way&7 == 4 && len(r.Slots) > 0:
				r.Slots[max(at, 0)%len(r.Slots)].Seconds *= float64(by)
			case way&7 == 5 && len(r.Slots) > 0:
				s := &r.Slots[max(at, 0)%len(r.Slots)]
				*s = SlotReport{Slot: s.Slot, Target: s.Target, Failed: "x"}
			case way&7 == 6 && len(r.Summary.Targets) > 0:
				one := &r.Summary.Targets[max(at, 0)%len(r.Summary.Targets)]
				one.Histogram, one.Name = nil, "ab"[:max(by, 0)%3]
			case way&7 == 7:
				r.Summary.LatencyStep *= float64(by) / 2
			}
		}
		for i := range parts {
			var err error
			if parts[i].Report, err = ReadReport(strings.NewReader(lines(t, parts[i].Report))); err != nil {
				return
			}
		}
		r, err := Merge(wholePlan(), parts, time.Duration(apart))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of two lines: %q", err)
			}
			return
		}
		filled(t, r)
	})
}

func FuzzHistogram(f *testing.F) {
	for _, h := range []*Histogram{recorded(0), recorded(1, 1, 5, 1<<41), recorded(longest-1, longest-1)} {
		text, _ := json.Marshal(h)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var h Histogram
		if json.Unmarshal(text, &h) != nil {
			return
		}
		l := h.Latency()
		if err := errors.Join(impossible(reflect.ValueOf(l), ""), l.check(&h)); err != nil || h.n < 1 {
			t.Errorf("accepted: %q: %v", text, err)
		}
		again, err := json.Marshal(&h)
		if err != nil {
			t.Fatal(err)
		}
		var same Histogram
		if err := json.Unmarshal(again, &same); err != nil || !reflect.DeepEqual(h, same) {
			t.Errorf("%q became %q, %v", text, again, err)
		}
	})
}
