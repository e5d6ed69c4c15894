package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/doctor"
)

// columns is the width of the terminal that is written to; 0 for a file, a pipe, or a
// terminal that does not say.
func columns(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// fitted breaks a line between words where the terminal would break it within one; what
// follows is indented below it. Without a width it stays as it is.
func fitted(text string, width int) string {
	lead := text[:len(text)-len(strings.TrimLeft(text, " "))]
	if len(text) <= width || width-len(lead) < 20 {
		return text
	}
	return lead + strings.Join(doctor.Wrap(text, width-len(lead)-2), "\n"+lead+"  ")
}

// A row is a claim with its verdict, and with the figures that the verdict rests on.
type row struct{ claim, verdict, figures string }

// showClaims prints claims as a table, or, where a terminal has no room for that, the
// figures below each claim.
func showClaims(out io.Writer, rows []row, width int) {
	first, second := len("CLAIM"), len("VERDICT")
	for _, r := range rows {
		first, second = max(first, len(r.claim)), max(second, len(r.verdict))
	}
	const least = 40 // columns for figures
	left := width - first - second - 4
	if width > 0 && left < least {
		fmt.Fprintln(out)
		for _, r := range rows {
			fmt.Fprintf(out, "%s\n%s\n", fitted(r.claim+": "+r.verdict, width), fitted("    "+r.figures, width))
		}
		return
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nCLAIM\tVERDICT\tFIGURES")
	for _, r := range rows {
		lines := []string{r.figures}
		if width > 0 {
			lines = doctor.Wrap(r.figures, left)
		}
		for i, line := range lines {
			if i > 0 {
				r.claim, r.verdict = "", ""
			}
			fmt.Fprintf(w, "%s\t%s\t%s\n", r.claim, r.verdict, line)
		}
	}
	w.Flush()
}
