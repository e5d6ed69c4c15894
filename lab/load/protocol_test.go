package load

import (
	"bytes"
	"io"
	"strings"
	"testing"
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
