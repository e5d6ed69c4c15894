package stamp

import (
	"runtime/debug"
	"testing"
)

func TestAStampIsReadAsItWasWritten(t *testing.T) {
	for _, s := range []Stamp{{"ab", "cd", false}, {"ab", "cd", true}, {"ab", "", true}} {
		if got := Parse("netgo," + s.String()); got != s {
			t.Errorf("%+v became %+v", s, got)
		}
		if got := Of(&debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "-trimpath", Value: "true"}, {Key: "-tags", Value: s.String()}}}); got != s {
			t.Errorf("of a build: %+v became %+v", s, got)
		}
	}
	if got := Parse("netgo"); got != (Stamp{}) {
		t.Errorf("without a stamp: %+v", got)
	}
	if got := Of(&debug.BuildInfo{}); got != (Stamp{}) {
		t.Errorf("of a build without tags: %+v", got)
	}
}
