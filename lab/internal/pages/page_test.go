package pages

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
)

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// read is a value as a reader of its JSON has it.
func read(t *testing.T, v any) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(asJSON(t, v)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAPageHasTheFiguresInWordsAndNamesTheOthers(t *testing.T) {
	x := sample.Design(t, "", sample.IsFlat)
	r := sample.Ratios(x, 1, 1, 1, 1, 1, 1)
	f := verdict.Decide(x, sample.Machine, []verdict.Run{{File: r, Then: x}})
	Fill(f, x)
	f.Control = &verdict.Control{Of: "c1", Condition: verdict.Summary{ID: "c3",
		Metrics: map[string]verdict.Figure{sample.Rps: {N: 6}}}}
	before := asJSON(t, f)
	p := PageOf(f, r)
	if asJSON(t, f) != before {
		t.Error("the verdicts were changed")
	}
	if len(p.Conditions) != 2 || p.Recorded != len(f.Conditions[0].Metrics) {
		t.Fatalf("%d conditions, %d metrics recorded", len(p.Conditions), p.Recorded)
	}
	for i, c := range p.Conditions {
		if len(c.Metrics) != 1 || c.Metrics[sample.Rps].Text == "" || c.ID != f.Conditions[i].ID {
			t.Errorf("figures of %s: %+v", c.ID, c.Metrics)
		}
		if want := "client_cores_busy client_thread_busy_max processes server_cores_busy server_cpu_per_request_s workers"; c.Others != want {
			t.Errorf("others of %s: %q, want %q", c.ID, c.Others, want)
		}
	}
	if n := strings.Count(asJSON(t, p), `"conditions":`); n != 1 {
		t.Errorf("conditions are written %d times", n)
	}
	if c := p.Control; c.Of != "c1" || c.Condition.ID != "c3" || len(c.Condition.Metrics) != 0 {
		t.Errorf("control: %+v", c)
	}
}

func TestAPageHasWhatIsShownOfTheResults(t *testing.T) {
	x := sample.Design(t, "", sample.IsFlat)
	r := sample.Ratios(x, 1, 1, 1, 1, 1, 1)
	r.Provenance.Seed, r.Provenance.Generator = 1<<63+1, "g"
	r.Conditions[0].Commands, r.Conditions[1].Commands = []string{"a", "b"}, []string{"c"}
	r.Conditions[0].Profiles = []results.RawProfile{{File: "f"}}
	r.Warnings = []string{"w"}
	sample.Spoil(&r.Trials[0])
	r.Trials[1].BoundWhy = "why"
	r.Trials[1].Slots = &results.Slots{AtS: []float64{0.5, 1.5}, Requests: []int64{7, 8}, ServerCPUS: []float64{1, 1}}
	f := verdict.Decide(x, sample.Machine, []verdict.Run{{File: r, Then: x}})
	Fill(f, x)
	f.Each = TrialsOf(r)
	got := read(t, PageOf(f, r))["results"].(map[string]any)
	from := got["provenance"].(map[string]any)
	if from["seed"] != "9223372036854775809" || from["generator"] != "g" || from["started_at"] != "2026-01-02T03:04:05Z" {
		t.Errorf("provenance: %v", from)
	}
	trials := got["trials"].([]any)
	if len(trials) != len(r.Trials) {
		t.Fatalf("%d trials, want %d", len(trials), len(r.Trials))
	}
	for _, c := range []struct {
		got  any
		want string
	}{
		{got["schema_version"], `3`},
		{got["commands"], `["a","b","c"]`},
		{got["warnings"], `["w"]`},
		{got["profiled"], `true`},
		{got["topology"], `{"kind":"loopback"}`},
		{got["settings"], asJSON(t, r.Settings)},
		{trials[0],
			`{"block":1,"bound":"server-cpu","condition":"c1","reasons":[{"detail":"1 connection errors","gate":"errors"}],"seq":1,"valid":false}`},
		{trials[1],
			`{"block":1,"bound":"server-cpu","bound_why":"why","condition":"c2","seq":2,"slots":{"at_s":[0.5],"requests":[7,8]},"valid":true}`},
	} {
		if got := asJSON(t, c.got); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// Early results name processes that no page does. The results stay as they are.
func TestAPageNamesOnlyListedProcesses(t *testing.T) {
	const detail = "client_foreign_load 0.42; most of it chromium (0.40)"
	trials := []results.Trial{{Reasons: []results.Reason{{Gate: gate.OtherLoad, Detail: detail},
		{Gate: gate.Errors, Detail: "1 error"}}}}
	got := pageTrials(trials)[0].Reasons
	if got[0].Detail != "client_foreign_load 0.42; most of it another process (0.40)" || got[1].Detail != "1 error" ||
		trials[0].Reasons[0].Detail != detail {
		t.Errorf("%+v of %+v", got, trials)
	}
}
