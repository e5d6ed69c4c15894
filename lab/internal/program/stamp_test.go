package program

import (
	"reflect"
	"runtime/debug"
	"testing"
)

func TestAStampIsReadAsItWasWritten(t *testing.T) {
	for _, s := range []Stamp{{"ab", "cd", false, nil, ""}, {"ab", "cd", true, nil, "v1.2.0-rc.1"},
		{"ab", "", true, map[string]string{"server": "ef", "a.pgo": "01"}, ""}} {
		if got := ParseStamp("netgo," + s.String()); !reflect.DeepEqual(got, s) {
			t.Errorf("%+v became %+v", s, got)
		}
		if got := StampOf(&debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "-trimpath", Value: "true"},
			{Key: "-tags", Value: s.String()}}}); !reflect.DeepEqual(got, s) {
			t.Errorf("of a build: %+v became %+v", s, got)
		}
	}
	if got := ParseStamp("netgo"); !reflect.DeepEqual(got, Stamp{}) {
		t.Errorf("without a stamp: %+v", got)
	}
	if got := StampOf(&debug.BuildInfo{}); !reflect.DeepEqual(got, Stamp{}) {
		t.Errorf("of a build without tags: %+v", got)
	}
}
