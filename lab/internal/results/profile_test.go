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
}
