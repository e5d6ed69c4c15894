package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// logEvery is how often a log gets a line of something that goes on.
const logEvery = 10 * time.Second

// Columns is the width of the terminal that is written to; 0 for a file, a pipe, or a
// terminal that does not say.
func Columns(w io.Writer) int {
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

// Is reports whether a file is a terminal.
func Is(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Wrap breaks a text between words. A word longer than the width stays whole.
func Wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case len(*last)+1+len(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// Fit breaks a line between words where the terminal would break it within one; what
// follows is indented below it. Without a width it stays as it is.
func Fit(text string, width int) string {
	lead := text[:len(text)-len(strings.TrimLeft(text, " "))]
	if len(text) <= width || width-len(lead) < 20 {
		return text
	}
	return lead + strings.Join(Wrap(text, width-len(lead)-2), "\n"+lead+"  ")
}

// A Line is what goes on, in one line that is rewritten if Out is a terminal.
type Line struct {
	Out      io.Writer
	Terminal bool
	Columns  int // of the terminal; 0 if unknown
	Now      func() time.Time

	width int // of what the terminal shows
	said  time.Time
}

// NewLine writes to a file, in the way of a terminal if it is one.
func NewLine(f *os.File) *Line {
	return &Line{Out: f, Terminal: Is(f), Columns: Columns(f), Now: time.Now}
}

// Say writes a line of its own.
func (l *Line) Say(format string, args ...any) {
	l.End()
	fmt.Fprintln(l.Out, Fit(fmt.Sprintf(format, args...), l.Columns))
}

// End clears the line.
func (l *Line) End() {
	if l.Terminal {
		l.rewrite("")
	}
}

// Show rewrites the line; a log gets it if it is due, or if none was written for a while.
func (l *Line) Show(text string, due bool) {
	switch {
	case l.Terminal:
		l.rewrite(text)
	case due || l.said.IsZero() || l.Now().Sub(l.said) >= logEvery:
		l.said = l.Now()
		l.Say("%s", text)
	}
}

// Due has the next line shown in a log too.
func (l *Line) Due() { l.said = time.Time{} }

// rewrite replaces the terminal's line; an empty text clears it.
func (l *Line) rewrite(text string) {
	if text == "" && l.width == 0 {
		return
	}
	if first, _, cut := strings.Cut(Fit(text, l.Columns-2), "\n"); cut { // what is rewritten has to be one line
		text = first + " …"
	}
	fmt.Fprintf(l.Out, "\r%s%s", text, strings.Repeat(" ", max(0, l.width-len(text))))
	if text == "" {
		fmt.Fprint(l.Out, "\r")
	}
	l.width = len(text)
}
