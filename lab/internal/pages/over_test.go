package pages

import (
	"reflect"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/verdict"
	"github.com/line-rate/line-rate/lab/internal/verdict/sample"
	"github.com/line-rate/line-rate/lab/internal/words"
)

func file(host string, v verdict.Verdict, ratio, low, high float64) *verdict.File {
	return &verdict.File{Host: host, Run: "run-" + host,
		Claims: []verdict.Claim{{ID: "c", Verdict: v, Reason: "r", Blocks: 9, Runs: 2, For: 8, Against: 1,
			Effects: []verdict.Effect{{Metric: sample.Rps, A: setting.Levels{"workers": setting.Int(2)},
				B: setting.Levels{"workers": setting.Int(1)}, Ratio: ratio, Low: low, High: high,
				Words: words.Ratio(ratio, low, high), Decides: true}}}}}
}

func TestAClaimOverHosts(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []*verdict.File
		says  string
	}{
		{"none", nil, "no machine has measured it yet"},
		{"one", []*verdict.File{file("a", verdict.Confirmed, 2, 1.9, 2.1)}, "confirmed on 1 of 1 machine"},
		{"two that agree", []*verdict.File{file("a", verdict.Confirmed, 2, 1.9, 2.1),
			file("b", verdict.Open, 2.1, 1.5, 2.5)},
			"confirmed on 1 of 2 machines, open on 1"},
		{"two that do not", []*verdict.File{file("a", verdict.Confirmed, 2, 1.9, 2.1),
			file("b", verdict.Refuted, 1, 0.9, 1.1)},
			"confirmed on 1 of 2 machines, refuted on 1"},
		{"one of three apart", []*verdict.File{file("a", verdict.Confirmed, 2, 1.9, 2.1),
			file("b", verdict.Confirmed, 2, 1.9, 2.1), file("c", verdict.Refuted, 1, 0.9, 1.1)},
			"confirmed on 2 of 3 machines, refuted on 1"},
		{"without an interval", []*verdict.File{file("a", verdict.Confirmed, 2, 1.9, 2.1),
			file("b", verdict.NotApplicable, 0, 0, 0)},
			"confirmed on 1 of 2 machines, not applicable on 1"},
		{"with an open end", []*verdict.File{file("a", verdict.Confirmed, 2, 1.9, 2.1),
			file("b", verdict.Confirmed, 3, 1.5, 0)},
			"confirmed on 2 of 2 machines"},
	} {
		got := Over("c", Series, "", c.files)
		if got.Says != c.says || len(got.Hosts) != len(c.files) || got.Hosts == nil {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
	got := Over("c", Series, "", []*verdict.File{file("b", verdict.Refuted, 1, 0.9, 1.1), file("a", verdict.Confirmed, 2, 1.9,
		2.1)})
	want := OnHost{Host: "a", Run: "run-a", Verdict: verdict.Confirmed, Reason: "r", Blocks: 9, Runs: 2,
		For: 8, Against: 1, Ratio: 2, Low: 1.9, High: 2.1, Text: "2.00", Interval: "1.90 to 2.10"}
	if !reflect.DeepEqual(got.Hosts[0], want) || got.Verdicts[verdict.Confirmed] != 1 ||
		got.Verdicts[verdict.Refuted] != 1 {
		t.Errorf("%+v", got)
	}
	x := sample.Design(t, "", sample.IsFlat, sample.Rename(sample.AtLeast, "d"))
	all := OverHosts(x, []Made{{file("a", verdict.Confirmed, 2, 1.9, 2.1), x}}, nil)
	if len(all.Claims) != 2 || all.Claims[1].Says != "no machine has measured it yet" || all.Claims[0].ID != "c" ||
		all.Experiment != x.Name {
		t.Errorf("%+v", all)
	}
}
