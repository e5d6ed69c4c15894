package program

import (
	"runtime/debug"
	"testing"
)

func TestAStampIsReadAsItWasWritten(t *testing.T) {
	for _, s := range []Stamp{{"ab", "cd", false}, {"ab", "cd", true}, {"ab", "", true}} {
		if got := ParseStamp("netgo," + s.String()); got != s {
			t.Errorf("%+v became %+v", s, got)
		}
		if got := StampOf(&debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "-trimpath", Value: "true"}, {Key: "-tags", Value: s.String()}}}); got != s {
			t.Errorf("of a build: %+v became %+v", s, got)
		}
	}
	if got := ParseStamp("netgo"); got != (Stamp{}) {
		t.Errorf("without a stamp: %+v", got)
	}
	if got := StampOf(&debug.BuildInfo{}); got != (Stamp{}) {
		t.Errorf("of a build without tags: %+v", got)
	}
}
