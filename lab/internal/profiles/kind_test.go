package profiles

import "testing"

func TestEveryKindHasItsWords(t *testing.T) {
	for _, k := range Kinds() {
		if d := k.Doc(); d.Kind != k || d.Name == "" || d.Of == "" || d.Per == "" {
			t.Errorf("%s is told as %+v", k, d)
		}
	}
	if len(KindDocs()) != len(Kinds()) {
		t.Errorf("%d kinds are told, of %d", len(KindDocs()), len(Kinds()))
	}
	for _, w := range Works() {
		if got := w.Work.Words(); got == "" || got != w.Words {
			t.Errorf("%s is told as %q", w.Work, got)
		}
	}
}
