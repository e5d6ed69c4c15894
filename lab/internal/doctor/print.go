package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/terminal"
)

// The columns of a report: at the most, whatever a terminal has, and at the least.
const (
	widest, narrowest = 100, 60
	levelColumn       = 7
	aboutColumn       = 16
)

// Print writes findings for a reader, as wide as the terminal is: first what prevents or disturbs, the
// worst first, and last what is in order. Of each finding the first line says what was seen, and those
// below it what it means and how to mend it. A command to type is never broken over lines.
func Print(w io.Writer, fs []Finding) error {
	width := widest
	if has := terminal.Columns(w); has > 0 {
		width = min(width, max(has, narrowest))
	}
	var b strings.Builder
	rank := []Level{Fault, Limit, Good}
	for _, f := range slices.SortedStableFunc(slices.Values(fs), func(a, b Finding) int {
		return slices.Index(rank, a.Level) - slices.Index(rank, b.Level)
	}) {
		head := fmt.Sprintf("%-*s%-*s", levelColumn, f.Level, aboutColumn, f.About)
		for _, text := range []string{f.Seen, f.Means} {
			for _, line := range terminal.Wrap(text, width-levelColumn-aboutColumn) {
				if text != "" {
					fmt.Fprintf(&b, "%-*s%s\n", levelColumn+aboutColumn, head, line)
				}
				head = ""
			}
		}
		if f.Mend != "" {
			fmt.Fprintf(&b, "%*sto mend it: %s\n", levelColumn+aboutColumn, "", f.Mend)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
