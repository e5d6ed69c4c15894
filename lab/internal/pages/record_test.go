package pages

import "testing"

func TestAPageShowsTheMachineWithTheMostBlocks(t *testing.T) {
	for _, c := range []struct {
		name          string
		of, elsewhere Blocks
		want          string
	}{
		{"none", nil, Blocks{"a": 9}, ""},
		{"one without a block", Blocks{"a": 0}, nil, "a"},
		{"the most", Blocks{"a": 5, "b": 7}, nil, "b"},
		{"of the whole page", Blocks{"a": 5, "b": 7}, Blocks{"a": 9}, "a"},
		{"only with blocks of this experiment", Blocks{"a": 0, "b": 7}, Blocks{"a": 9}, "b"},
		{"only with a record of it", Blocks{"b": 1}, Blocks{"a": 9}, "b"},
		{"as many on the page, more of this", Blocks{"a": 3, "b": 4}, Blocks{"a": 1}, "b"},
		{"as many", Blocks{"b": 3, "a": 3}, nil, "a"},
	} {
		if got := c.of.Shown(c.elsewhere); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
