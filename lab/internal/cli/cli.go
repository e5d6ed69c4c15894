// Package cli reads the command lines of the programs that have commands, by kong, and prints their refusals:
// each is one line that says what is wrong and which help tells how to write it. It also writes for a terminal:
// lines that fit it, and one line that is rewritten while something goes on, or, in a log, a plain line now and
// then.
package cli

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Program is one with commands.
type Program struct {
	Name     string
	Commands any // a pointer to a struct, as kong has it
	// Help has help/NAME.txt on the program, and such a file for each command of which there is more
	// to say than its tag does.
	Help embed.FS
	// Report is the last line of each refusal, which says where to tell of one that does not help.
	// With it the way out is on a line of its own. Empty: a refusal is one line.
	Report string
}

// Failed is the exit status for a wrong call, and for what could not be done.
const Failed = 3

// Main is a program's main. If the arguments are a call of the program to itself, it carries that
// out. Else it runs command with them until a signal asks for its end. A second signal ends the
// program at once.
func Main(command func(ctx context.Context, args []string, out, errs io.Writer) int, own ...func(args []string) (status int, is bool)) {
	for _, call := range own {
		if status, is := call(os.Args[1:]); is {
			os.Exit(status)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	context.AfterFunc(ctx, stop)
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// Run reads the arguments and calls do with the command that they select. It returns the exit
// status.
func (p Program) Run(args []string, out, errs io.Writer, do func(command any) (int, error)) int {
	call, err := p.read(args, out)
	if err == nil && call == nil {
		return 0 // it printed the help
	}
	status := Failed
	if err == nil {
		status, err = do(call.Selected().Target.Addr().Interface())
	}
	if err != nil {
		fmt.Fprintf(errs, "%s: %s\n", p.Name, strict.Lines(p.hinted(err.Error(), args)))
		return Failed
	}
	return status
}

// hinted is a refusal with its way out, the part behind its last semicolon, on a line of its own.
// It adds flags there to the call, ready to type. What a signal ended needs no way out.
func (p Program) hinted(text string, args []string) string {
	if p.Report == "" || strings.HasPrefix(text, "interrupted") {
		return text
	}
	hint := p.Name + " help " + strings.Join(args[:min(1, len(args))], "")
	if at := strings.LastIndex(text, "; "); at >= 0 && strings.Count(text[at:], `"`)%2 == 0 { // else quote it
		text, hint = text[:at], text[at+len("; "):]
	}
	if added := strings.Fields(hint); strings.HasPrefix(hint, "--") {
		rest := args[1:]
		if at := slices.Index(rest, added[0]); at >= 0 && len(added) > 1 { // it had another value
			rest = slices.Delete(slices.Clone(rest), at, min(at+2, len(rest)))
		}
		hint = strict.Shell(slices.Concat([]string{p.Name, args[0]}, added, rest))
	}
	return text + "\nhint: " + hint + "\n" + p.Report
}

// parser reads a command line. Flags with a tag "more", and a text NAME.all.txt, are in the help of
// a command only with the word all.
func (p Program) parser(all bool, options ...kong.Option) *kong.Kong {
	made := kong.Must(p.Commands, append(options, kong.Name(p.Name), kong.Description(p.help(p.Name)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoAppDescFormat: true}),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(length)))...)
	for _, command := range made.Model.Children {
		command.Detail = cmp.Or(command.Detail, p.help(command.Name))
		if rest := p.help(command.Name + ".all"); all && rest != "" {
			command.Detail += "\n\n" + rest
		}
		for _, f := range command.Flags {
			f.Hidden = f.Hidden || f.Tag.Has("more") && !all
		}
	}
	return made
}

// help is the text above the options of the program or a command; empty if it has none.
func (p Program) help(name string) string {
	text, _ := p.Help.ReadFile("help/" + name + ".txt")
	return strings.TrimSuffix(string(text), "\n")
}

// read parses the arguments, or prints the help that is asked for and returns nil.
func (p Program) read(args []string, out io.Writer) (*kong.Context, error) {
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help":
		args = append(args[1:], "--help")
	case strings.TrimLeft(args[0], "-") == "version":
		_, err := fmt.Fprintln(out, p.Version())
		return nil, err
	}
	var words []string
	for _, arg := range args {
		switch last := len(words) - 1; {
		case last >= 0 && bareFlag.MatchString(words[last]) && negative.MatchString(arg):
			words[last] += "=" + arg // say what the flag takes, not how to write what it refuses
		case oneDash.MatchString(arg): // works where two are usual, as with Go's own flags
			words = append(words, "-"+arg)
		default:
			words = append(words, arg)
		}
	}
	all := slices.Contains(words, "all") && (slices.Contains(words, "--help") || slices.Contains(words, "-h"))
	if all { // help COMMAND all
		words = slices.DeleteFunc(words, func(word string) bool { return word == "all" })
	}
	helped := false
	call, err := p.parser(all, kong.Writers(out, io.Discard), kong.Exit(func(int) { helped = true })).Parse(words)
	if helped {
		return nil, nil
	}
	if wrong, ok := errors.AsType[*kong.ParseError](err); ok {
		return nil, p.refusal(wrong)
	}
	for _, step := range call.Path {
		if step.Flag != nil {
			f := step.Flag
			if f.Target.Kind() == reflect.String && f.Target.String() == "" {
				return nil, fmt.Errorf("--%s is given and empty; give a value, or leave it out", f.Name)
			}
			if in, ok := bounds[f.Name]; ok && (f.Target.Int() < in[0] || f.Target.Int() > in[1]) {
				like := func(n int64) reflect.Value { return reflect.ValueOf(n).Convert(f.Target.Type()) }
				return nil, fmt.Errorf("--%s %v: use %v to %v", f.Name, f.Target, like(in[0]), like(in[1]))
			}
		}
	}
	return call, nil
}

// bounds are the least and the most of numbers and of times, which are in nanoseconds, by the name of their flag.
var bounds = map[string][2]int64{"port": {1, 65535}, "blocks": {1, 1000}, "budget": {1e9, 24 * 3600e9},
	"at-most": {1e9, 24 * 3600e9}, "ready": {1e6, 600e9}}

var (
	bareFlag = regexp.MustCompile(`^--[a-z][^=]+$`) // without its value
	negative = regexp.MustCompile(`^-[0-9][^ ]*$`)
	oneDash  = regexp.MustCompile(`^-[a-z][a-z-]`) // and -c50 is -c 50
)

// Release is the tag that this program was built for; the linker sets it. It is empty beside releases.
var Release string

// Version says what this program was built from.
func (p Program) Version() string {
	name, from := p.Name+" "+Release, "a commit that it does not name"
	commit, modified := Commit()
	info, _ := debug.ReadBuildInfo()
	switch {
	case info.Main.Sum != "": // by go install, of a version that Go's checksums know
		name, from = p.Name+" "+info.Main.Version, "module "+info.Main.Path+" "+info.Main.Sum
	case modified:
		from = "commit " + commit + " with changes"
	case commit != "":
		from = "commit " + commit
	}
	return fmt.Sprintf("%s, built from %s by %s", strings.TrimSpace(name), from, runtime.Version())
}

// Commit is the one that this program was built from, and whether files differed from it; empty if Go was
// not told.
func Commit() (commit string, modified bool) {
	info, _ := debug.ReadBuildInfo() // which each program has that Go built in a module
	value := func(key string) string {
		s, _ := strict.Find(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
		return s.Value
	}
	return value("vcs.revision"), value("vcs.modified") == "true"
}

// noNumber is how kong refuses a word for a flag that wants a number.
var noNumber = regexp.MustCompile(`expected a .*(?:float|int) but got ("[^"]*")(?: \(string\))?`)

// refusal says in one line what is wrong with a call, and which help tells how to write
// it.
func (p Program) refusal(wrong *kong.ParseError) error {
	help, says := p.Name+" help", strings.Replace(wrong.Error(), `but got "EOL" (<EOL>)`, "but nothing follows", 1)
	says = noNumber.ReplaceAllString(says, "$1 is no number")
	if of := wrong.Context.Selected(); of != nil {
		help += " " + of.Path()
	} else if rest, ok := strings.CutPrefix(says, "unexpected argument "); ok {
		word, guess, _ := strings.Cut(rest, ",")
		says = strings.TrimSuffix(fmt.Sprintf("no command %q,%s", word, guess), ",")
	}
	if strings.HasSuffix(says, "?") {
		return fmt.Errorf("%s (see %s)", says, help)
	}
	return fmt.Errorf("%s; see %s", says, help)
}

// length parses a duration with its unit.
func length(call *kong.DecodeContext, to reflect.Value) error {
	var text string
	if err := call.Scan.PopValueInto("time", &text); err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q: write it with its unit, as 90s or 20m", text)
	}
	to.SetInt(int64(d))
	return nil
}

// logEvery is how often a log gets a line of something that goes on.
const logEvery = 10 * time.Second

// Columns is the width of the terminal that is written to; 0 for a file, a pipe, or a
// terminal that does not say.
func Columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil {
			return int(size.Col)
		}
	}
	return 0
}

// Fit breaks a line between words where the terminal would break it within one; what
// follows is indented below it. A word longer than the width stays whole. Without a width it stays as it is.
func Fit(text string, width int) string {
	lead := text[:len(text)-len(strings.TrimLeft(text, " "))]
	if len(text) <= width || width-len(lead) < 20 {
		return text
	}
	line := regexp.MustCompile(fmt.Sprintf(`\S.{0,%d}\S(?:\s|$)|\S+`, min(width-len(lead)-4, 1000)))
	return lead + strings.Join(strict.Map(line.FindAllString(text, -1), strings.TrimSpace), "\n"+lead+"  ")
}

// A Line is what goes on, in one line that is rewritten if Out is a terminal.
type Line struct {
	Out     io.Writer
	Columns int // of the terminal; 0: it is none
	Now     func() time.Time

	width int // of what the terminal shows
	said  time.Time
}

// NewLine writes to a file, in the way of a terminal if it is one.
func NewLine(f *os.File) *Line {
	return &Line{Out: f, Columns: Columns(f), Now: time.Now}
}

// Say writes a line of its own.
func (l *Line) Say(format string, args ...any) {
	l.End()
	fmt.Fprintln(l.Out, Fit(fmt.Sprintf(format, args...), l.Columns))
}

// End clears the line.
func (l *Line) End() {
	if l.Columns > 0 {
		l.rewrite("")
	}
}

// Show rewrites the line; a log gets it if it is due, or if none was written for a while.
func (l *Line) Show(text string, due bool) {
	switch {
	case l.Columns > 0:
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
