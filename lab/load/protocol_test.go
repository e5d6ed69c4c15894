package load

import (
	"bytes"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

func plan() *Plan {
	return &Plan{
		Threads: 1, TimeoutS: 2,
		Targets: []Target{
			{Name: "a", URL: "http://127.0.0.1:1/simple", Connections: 2, Pipelining: 1, Answers: "fiber",
				Processes: []int{7, 8}},
			{Name: "b", URL: "http://127.0.0.1:2/read", Connections: 1, Pipelining: 50, Rate: 0.5, Processes: []int{}},
		},
		Slots: []Slot{{Target: 0, Seconds: 0.1}, {Target: 1, Seconds: 0.1, Counts: true}},
		Wire:  &Wire{3, "s", "c"},
	}
}

func report() *Report {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &Report{
		Slots: []SlotReport{
			{Slot: 0, Target: 0, AtNS: 1e9, Seconds: 0.1, FillS: 0.01, Requests: 5, Bytes: 500, ServerCPUS: []float64{0.05, 0},
				Wire: &WireReport{TxBytes: 1}},
			{Slot: 1, Target: 1, AtNS: 2e9, Seconds: 0.1, FillS: 0.01, Requests: 6, Bytes: 600, ServerCPUS: []float64{},
				Wire: &WireReport{RxBytes: 1}},
		},
		Held: true,
		Summary: Summary{Version: "v", Threads: 1, Start: at, Finish: at.Add(time.Second), LatencyStep: 0.001,
			Targets: []TargetSummary{
				{Name: "a", Errors: 2, Fault: "closed"},
				{Name: "b", Requests: 6, Bytes: 600, Latency: &Latency{6, 2, 1, 2, 3, 4, 5}, SendLag: &SendLag{0, 1, 2}},
			}},
	}
}

func lines(t testing.TB, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	for i := range r.Slots {
		if err := (Line{Slot: &r.Slots[i]}).Write(&b); err != nil {
			t.Fatal(err)
		}
	}
	if r.Held {
		_ = Line{Held: true}.Write(&b)
	}
	_ = Line{Summary: &r.Summary}.Write(&b)
	return b.String()
}

func TestAPlanSurvivesTheWay(t *testing.T) {
	var b bytes.Buffer
	if err := plan().Write(&b); err != nil {
		t.Fatal(err)
	}
	b.WriteString("end\n")
	got, rest, err := ReadPlan(&b)
	if err != nil || !reflect.DeepEqual(got, plan()) {
		t.Fatalf("%+v, %v", got, err)
	}
	if text, _ := io.ReadAll(rest); string(text) != "\nend\n" {
		t.Errorf("what follows is %q", text)
	}
}

// The lab keeps the pipe open while the plan is carried out.
func TestAPlanIsReadWithoutWaitingForMore(t *testing.T) {
	r, w := io.Pipe()
	go func() { _ = plan().Write(w) }()
	if _, _, err := ReadPlan(r); err != nil {
		t.Error(err)
	}
}

func TestPlansThatAreRefused(t *testing.T) {
	var b bytes.Buffer
	_ = plan().Write(&b)
	good := b.String()
	for _, c := range []struct{ old, new, want string }{
		{good, "", "ends before"},
		{good, good[:40], "ends before"},
		{`"threads":1`, `"threads":1,"more":2`, "unknown field \"more\""},
		{`"threads":1`, `"threads":-1`, "threads is -1"},
		{`"connections":2`, `"connections":0`, "targets/0: connections is 0"},
		{`"connections":2`, `"connections":20000`, "sum of connections"},
		{`"pipelining":50`, `"pipelining":5000`, "targets/1: pipelining"},
		{`"rate":0.5`, `"rate":-1`, "rate is -1"},
		{`http://127.0.0.1:1/`, `ftp://127.0.0.1:1/`, "url"},
		{`[7,8]`, `[7,8],"protocol":"h3"`, "protocol is \"h3\""},
		{`[7,8]`, `[7,8],"insecure":true`, "insecure, ca, cert and sni are about certificates"},
		{`[7,8]`, `[7,8],"ca":"x"`, "insecure, ca, cert and sni are about certificates"},
		{`[7,8]`, `[7,8],"unix":"a"`, "unix is \"a\""},
		{`"processes":[]`, `"processes":[],"close":true`, "pipelining is 50; with close"},
		{`"processes":[]`, `"processes":[],"requests":[{"method":"GET","path":""}]`, "targets/1: requests/0: path"},
		{`"processes":[]`, `"processes":[],"requests":[{"method":"GET","path":"/","body":"%"}]`, "base64"},
		{`[7,8]`, `[7,8],"requests":[{"method":"GET","path":"/"}]`, "answers are known of a lone GET"},
		{`[7,8]`, `[7,0]`, "0 is no pid"},
		{`"target":1`, `"target":2`, "slots/1: there is no target 2"},
		{`"seconds":0.1`, `"seconds":0`, "slots/0: seconds"},
		{`"server_device":"s"`, `"server_device":""`, "wire"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if text == good {
			t.Fatalf("%q is not in the plan", c.old)
		}
		if _, _, err := ReadPlan(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", c.new, err, c.want)
		}
	}
}

func TestAReportSurvivesTheWay(t *testing.T) {
	got, err := ReadReport(strings.NewReader(lines(t, report())))
	if err != nil || !reflect.DeepEqual(got, report()) {
		t.Fatalf("%+v, %v", got, err)
	}
	if err := got.Fits(plan()); err != nil {
		t.Error(err)
	}
}

func TestReportsThatAreRefused(t *testing.T) {
	good := lines(t, report())
	summary := good[strings.Index(good, `{"summary"`):]
	for _, c := range []struct{ old, new, want string }{
		{good, "", "no summary"},
		{summary, "", "no summary"},
		{summary, "ready\n" + summary, "line 4: not a line"},
		{`"requests":5`, `"requests":5.5`, "requests"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if _, err := ReadReport(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", c.new, err, c.want)
		}
	}
	r := report()
	r.Slots = r.Slots[:1]
	if err := r.Fits(plan()); err == nil || !strings.Contains(err.Error(), "1 slots of 2") {
		t.Errorf("%v", err)
	}
}

func FuzzReadPlan(f *testing.F) {
	var b bytes.Buffer
	_ = plan().Write(&b)
	f.Add(b.String())
	f.Fuzz(func(t *testing.T, text string) {
		p, _, err := ReadPlan(strings.NewReader(text))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("an error of two lines: %q", err)
			}
			return
		}
		// An accepted plan is complete, and survives writing and reading.
		var b bytes.Buffer
		if err := p.Write(&b); err != nil {
			t.Fatal(err)
		}
		if again, _, err := ReadPlan(&b); err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("%+v became %+v, %v", p, again, err)
		}
	})
}
