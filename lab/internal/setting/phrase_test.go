package setting

import "testing"

func TestALevelIsShownWithTheUnitOfItsName(t *testing.T) {
	for name, c := range map[string]struct {
		level Level
		want  string
	}{"route": {String("/read"), "/read"}, "prefork": {Bool(true), "yes"},
		"rate": {Int(16000), "16,000"}} {
		if got := Cell(name, c.level); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
