package profiles

import (
	"cmp"
	"slices"
)

// A frame has a drawing of its own, with its callees at full width, if it is wide
// enough to point at and narrow enough for its callees' names not to fit.
const (
	zoomMost  = 5    // drawings of one tree: each adds to the page
	zoomLeast = 0.05 // share of the whole
	zoomGain  = 0.6  // share of the drawing that the frame is seen in
)

// zoom numbers the frames of a tree that have a drawing of their own, from 1 in
// the order of the tree. Of a chain of calls it takes the outermost.
func zoom(root *Node) {
	var found []*Node
	var walk func(n *Node, seenIn float64)
	walk = func(n *Node, seenIn float64) {
		if len(n.Children) > 0 && n.Value >= zoomLeast*root.Value && n.Value <= zoomGain*seenIn {
			found = append(found, n)
			seenIn = n.Value
		}
		for i := range n.Children {
			walk(&n.Children[i], seenIn)
		}
	}
	walk(root, root.Value)
	widest := slices.Clone(found)
	slices.SortStableFunc(widest, func(a, b *Node) int { return cmp.Compare(b.Value, a.Value) })
	widest = widest[:min(len(widest), zoomMost)]
	number := 0
	for _, n := range found {
		if slices.Contains(widest, n) {
			number++
			n.Zoom = number
		}
	}
}
