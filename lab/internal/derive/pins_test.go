package derive

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/plot"
)

func TestAPageThatShowsOneRunSaysSo(t *testing.T) {
	const link = "In [one run](/runs/x/7-a/) it was "
	for _, c := range []struct {
		name, text string
		figure     plot.Figure
		card       plot.CardOf
		refused    bool
	}{
		{name: "the record", text: `{{< value exp="x" metric="m" >}}`},
		{name: "one run", text: `{{< value exp="x" run="7-a" metric="m" >}}`, refused: true},
		{name: "run before exp", text: `{{< value run="7-a" exp="x" metric="m" >}}`, refused: true},
		{name: "another's link", text: link + `{{< value exp="y" run="7-a" metric="m" >}}`, refused: true},
		{name: "a link", text: link + `{{< value exp="x" run="7-a" metric="m" >}}`},
		{name: "a figure", figure: plot.Figure{Exp: "x", Run: "7-a"}, refused: true},
		{name: "a panel", figure: plot.Figure{Panels: []plot.Figure{{Exp: "x", Run: "7-a"}}}, refused: true},
		{name: "a figure with a link", text: link, figure: plot.Figure{Exp: "x", Run: "7-a"}},
		{name: "a card", card: plot.CardOf{Figure: plot.Figure{Exp: "x", Run: "7-a"}}, refused: true},
	} {
		err := pins([]byte(c.text), []plot.Figure{c.figure}, c.card)
		if (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), "run 7-a of ") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
