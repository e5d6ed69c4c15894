package main

import (
	"fmt"
	"io"
	"os"
	"slices"
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

// showClaims prints claims as a table, or, on a terminal that is too narrow for one, the
// figures below each claim.
func showClaims(out io.Writer, rows []row, width int) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CLAIM\tVERDICT\tFIGURES")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.claim, r.verdict, r.figures)
	}
	w.Flush()
	if width > 0 && slices.ContainsFunc(strings.Split(b.String(), "\n"), func(line string) bool { return len(line) > width }) {
		b.Reset()
		for _, r := range rows {
			fmt.Fprintf(&b, "%s\n%s\n", fitted(r.claim+": "+r.verdict, width), fitted("    "+r.figures, width))
		}
	}
	fmt.Fprintf(out, "\n%s", b.String())
}
