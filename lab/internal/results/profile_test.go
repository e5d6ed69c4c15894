package results

import (
	"strings"
	"testing"
)

func TestDecodeOfProfiles(t *testing.T) {
	const with = `"at": 1.5, "profiles": [{"kind": "cpu", "total": 0, "packages": {}}],`
	run := strings.Replace(made, `"at": 1.5,`, with, 1)
	f, err := decode(t, run)
	if err != nil {
		t.Fatal(err)
	}
	if p, there := f.Trials[0].Profile("cpu"); !there || p.Unit != "s" {
		t.Errorf("the profile is %+v", p)
	}
	if _, there := f.Trials[0].Profile("heap"); there {
		t.Error("there is a heap profile")
	}
	for _, c := range []struct{ old, new, says string }{
		{`"cpu"`, `"wall"`, "/trials/0/profiles/0/kind: "},
		{`"cpu"`, `"cpu", "unit": "ns"`, "/trials/0/profiles/0/unit: "},
		{`"total": 0`, `"total": -1`, "/trials/0/profiles/0/total: "},
		{`, "packages": {}`, ``, "/trials/0/profiles/0: missing property 'packages'"},
		{`"packages": {}`, `"packages": {}, "symbols": {}`,
			"/trials/0/profiles/0: additional properties 'symbols' not allowed"},
	} {
		_, err := decode(t, strings.Replace(run, with, strings.Replace(with, c.old, c.new, 1), 1))
		if err == nil || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.new, err, c.says)
		}
	}
}
