package experiment

import (
	"regexp"
	"testing"
)

// A claim speaks of what its design turns. One of all cores needs several for the server,
// which has half of a machine's, and one of settings that were not tried has no design.
func TestAClaimSpeaksOfNoMoreThanIsTurned(t *testing.T) {
	cores := regexp.MustCompile(`(?i)\ball cores\b|\bspreading packets\b|\beach flow to the core\b|\bwhere their process runs\b|\bcores of their own\b`)
	untried := regexp.MustCompile(`(?i)\bwhatever\b|\bany (rate|number|size)\b|\bbeyond [0-9]`)
	all, err := LoadDir("../../experiments")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		for _, c := range x.Claims {
			if cores.MatchString(c.Text) && c.Needs.Cores < 4 {
				t.Errorf("%s/%s speaks of many cores and needs %d: %s", x.Name, c.ID, c.Needs.Cores, c.Text)
			}
			if untried.MatchString(c.Text) {
				t.Errorf("%s/%s speaks of settings that its design does not turn: %s", x.Name, c.ID, c.Text)
			}
		}
	}
}
