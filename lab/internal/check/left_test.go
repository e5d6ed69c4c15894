package check

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// A host that lacks one of three servers measures the others, and says so.
func TestARunMayLeaveOutWhatItsHostLacks(t *testing.T) {
	x, err := experiment.Parse("turning", []byte(strings.NewReplacer(`{ name = "rps", levels = [false, true] }, `, "",
		"levels = [1, 2]", "levels = [1, 2, 4]").Replace(string(turning(t).Text))))
	if err != nil {
		t.Fatal(err)
	}
	out := func(n int64) results.LeftOut {
		return results.LeftOut{Levels: setting.Levels{setting.Workers: setting.Int(n)}, Why: "cargo is not there"}
	}
	f := turned(x.Without(out(2).Levels), 3, true)
	for _, c := range []struct {
		name string
		left []results.LeftOut
		says string // empty: accepted
	}{
		{"it says so", []results.LeftOut{out(2)}, ""},
		{"it does not", nil, "/conditions: 2, but turning has 3"},
		{"it names another", []results.LeftOut{out(4)}, `"workers=4" is no condition`},
		{"it names one more", []results.LeftOut{out(2), out(4)},
			"/provenance/left_out: what is left of turning compares nothing"},
		{"it names one twice", []results.LeftOut{out(2), out(2)}, "/provenance/left_out/1/levels: no further condition"},
		{"it names none", []results.LeftOut{{Why: "x"}}, "/provenance/left_out/0/levels: no further condition"},
	} {
		f.Provenance.LeftOut = c.left
		err := File(f, x)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
	f.Provenance.LeftOut = []results.LeftOut{out(2)}
	read := again(t, f)
	if err := File(read, x); err != nil {
		t.Errorf("read again: %v", err)
	}
	for name, why := range map[string]string{"none": "", "of two lines": "a\nb"} {
		f.Provenance.LeftOut[0].Why = why
		text, err := results.Encode(f)
		if err != nil {
			t.Fatal(err)
		}
		err = results.Decode(text, results.SchemaURL, &results.File{})
		if err == nil || !strings.HasPrefix(err.Error(), "/provenance/left_out/0/why: ") {
			t.Errorf("a reason that is %s: %v", name, err)
		}
	}
}
