package profiles

import (
	"slices"
	"testing"
)

// zooms lists the frames of a tree that have a drawing of their own.
func zooms(n Node) (names []string, numbers []int) {
	if n.Zoom > 0 {
		names, numbers = append(names, n.Symbol), append(numbers, n.Zoom)
	}
	for _, c := range n.Children {
		more, of := zooms(c)
		names, numbers = append(names, more...), append(numbers, of...)
	}
	return names, numbers
}

func TestNarrowFramesWithCalleesHaveADrawing(t *testing.T) {
	b := newBuilder()
	b.add(610, "serve wide answer") // wide enough to be read where it is
	b.add(200, "serve read fill")   // the chain below it needs no second drawing
	b.add(100, "serve wait park futex")
	b.add(50, "serve leaf") // nothing to see in it
	b.add(40, "serve small inner")
	tree := prune(t, b.p, 0)
	names, numbers := zooms(tree.Root)
	if want := []string{"read", "wait"}; !slices.Equal(names, want) || !slices.Equal(numbers, []int{1, 2}) {
		t.Errorf("drawn are %q with numbers %v, want %q", names, numbers, want)
	}
}

func TestAFrameInADrawingIsMeasuredByIt(t *testing.T) {
	b := newBuilder()
	b.add(500, "serve left")
	b.add(300, "serve right most end")
	b.add(200, "serve right rest end") // two fifths of right
	names, _ := zooms(prune(t, b.p, 0).Root)
	if want := []string{"right", "most", "rest"}; !slices.Equal(names, want) {
		t.Errorf("drawn are %q, want %q", names, want)
	}
}

func TestOnlyTheWidestHaveADrawing(t *testing.T) {
	b := newBuilder()
	for i, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		b.add(int64(100+10*i), "serve "+name+" end")
	}
	names, numbers := zooms(prune(t, b.p, 0).Root)
	if want := []string{"c", "d", "e", "f", "g"}; !slices.Equal(names, want) ||
		!slices.Equal(numbers, []int{1, 2, 3, 4, 5}) {
		t.Errorf("drawn are %q with numbers %v, want %q", names, numbers, want)
	}
}
