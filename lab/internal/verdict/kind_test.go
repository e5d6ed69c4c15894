package verdict

import (
	"testing"

	"github.com/line-rate/line-rate/lab/internal/experiment"
)

func TestEachKindThatAFileCanNameIsDecided(t *testing.T) {
	all := experiment.Claims()
	for _, doc := range all {
		if kinds[experiment.Kind(doc.Name)] == nil {
			t.Errorf("nothing decides claims of kind %q", doc.Name)
		}
	}
	if len(kinds) != len(all) {
		t.Errorf("%d kinds are decided, and files can name %d", len(kinds), len(all))
	}
}
