package derive

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/plot"
)

var (
	shortcode = regexp.MustCompile(`\{\{<[^>]*\bexp="([^"]*)"[^>]*>\}\}`)
	pinned    = regexp.MustCompile(`\brun="([^"]*)"`)
)

// pins finds what shows one run, where pages show a record. A page that means that run alone links
// to it, so that readers know why it does not follow the record.
func pins(text []byte, figures []plot.Figure, card plot.CardOf) error {
	type pin struct{ experiment, run string }
	all := []pin{{card.Exp, card.Run}}
	for _, f := range figures {
		all = append(all, pin{f.Exp, f.Run})
		for _, panel := range f.Panels {
			all = append(all, pin{panel.Exp, panel.Run})
		}
	}
	for _, s := range shortcode.FindAllSubmatch(text, -1) {
		if run := pinned.FindSubmatch(s[0]); run != nil {
			all = append(all, pin{string(s[1]), string(run[1])})
		}
	}
	for _, p := range all {
		if link := "/runs/" + p.experiment + "/" + p.run + "/"; p.run != "" && !strings.Contains(string(text), link) {
			return fmt.Errorf("it shows run %s of %s alone and does not say so: leave run out, for the record, or link to %s",
				p.run, p.experiment, link)
		}
	}
	return nil
}
