package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A subcommand is one call of the lab, read by kong from its fields' tags. It returns an
// exit status.
type subcommand interface {
	do(ctx context.Context, out io.Writer) (int, error)
}

// The subcommands. Only the lab itself calls the hidden ones.
type subcommands struct {
	Run          runCall       `cmd:"" help:"Run one experiment, until its claims are decided or its budget is spent."`
	Reproduce    reproduceCall `cmd:"" help:"Run the experiments of entries within one budget; without any, the core set. It passes over those that runs made in this clone have decided."`
	Compare      compareCall   `cmd:"" help:"Tell whether one server costs more than another: your own two builds, or any; adds nothing to the journal."`
	Profile      profileCall   `cmd:"" help:"Profile the server of an experiment, or one that runs; adds nothing to the journal."`
	Derive       deriveCall    `cmd:"" help:"Derive what follows from the data into derived/, from which the site is built: verdicts, CSV, audits, pages' figures. Only what has changed."`
	Audit        auditCall     `cmd:"" help:"Recompute what printed figures imply."`
	New          newCall       `cmd:"" help:"Write a file to start from: an entry, an experiment, a text or a host."`
	Preview      previewCall   `cmd:"" help:"Show an entry, or a draft, as it will look."`
	Table        tableCall     `cmd:"" help:"Print the table of ratios that experiments ask for, from what the journal has of this machine, or from new runs for trial."`
	Report       reportCall    `cmd:"" help:"Sum up what a change moves, for whoever judges it."`
	Check        checkCall     `cmd:"" help:"Check every data file."`
	Doctor       doctorCall    `cmd:"" help:"Say what this machine can decide; it watches for five seconds."`
	Tune         tuneCall      `cmd:"" passthrough:"" help:"Turn a knob of the kernel, and back."`
	List         listCall      `cmd:"" help:"List experiments and their claims."`
	Fleet        fleetCall     `cmd:"" help:"Look at the hosts of a fleet, or fetch the runs that it kept."`
	CheckAnswers answersCall   `cmd:"" hidden:""`
	AskServer    askCall       `cmd:"" hidden:""`
	FleetClient  agentCall     `cmd:"" hidden:""`
	FleetFiles   offerCall     `cmd:"" hidden:""`
}

const description = `The journal's experiments, on this machine.

Verdicts of run count all blocks that the journal has of this host; those of
reproduce only blocks that were measured in this clone and that git does not
track. An interrupted run keeps its complete blocks. So does one that was killed:
the next run or reproduce adds them.

Exit status
  0  every claim holds here (reproduced or confirmed), or is not applicable
  1  some claim was refuted, or is not decided
  2  some claim is invalid: its trials cannot bear a verdict
  3  a run failed, a check found faults, or the call was wrong

lab --version says what this program was built from.`

func parser(options ...kong.Option) *kong.Kong {
	return kong.Must(&subcommands{}, append(options, kong.Name("lab"), kong.Description(description),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoAppDescFormat: true}),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(length)))...)
}

// read parses the arguments, or prints the help that is asked for and returns nil.
func read(args []string, out io.Writer) (*kong.Context, error) {
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "help":
		args = append(args[1:], "--help")
	case strings.TrimLeft(args[0], "-") == "version":
		_, err := fmt.Fprintln(out, builtFrom())
		return nil, err
	}
	var words []string
	for i, arg := range args {
		switch last := len(words) - 1; {
		case len(arg) > longestArgument:
			return nil, fmt.Errorf("argument %d has %d characters, and none may have more than %d: %s", i+1, len(arg),
				longestArgument, strict.Visible(arg, 60))
		case last >= 0 && isFlag(words[last]) && negative.MatchString(arg):
			words[last] += "=" + arg // so that what the flag takes is said, not how to write what it refuses
		case len(arg) > 2 && arg[0] == '-' && arg[1] >= 'a' && arg[1] <= 'z':
			words = append(words, "-"+arg) // one dash works where two are usual, as with Go's own flags
		default:
			words = append(words, arg)
		}
	}
	helped := false
	call, err := parser(kong.Writers(out, io.Discard), kong.Exit(func(int) { helped = true })).Parse(words)
	if helped {
		return nil, nil
	}
	if wrong, ok := errors.AsType[*kong.ParseError](err); ok {
		return nil, refusal(wrong)
	}
	for _, step := range call.Path {
		if step.Flag != nil {
			if err := bounds(step.Flag); err != nil {
				return nil, err
			}
		}
	}
	return call, nil
}

// longestArgument is more than any argument needs: a server's command, for instance.
const longestArgument = 8000

var negative = regexp.MustCompile(`^-[0-9][^ ]*$`)

// isFlag reports whether a word is a flag without its value.
func isFlag(word string) bool {
	return len(word) > 3 && strings.HasPrefix(word, "--") && word[2] >= 'a' && word[2] <= 'z' &&
		!strings.Contains(word, "=")
}

// builtFrom says what this program was built from.
func builtFrom() string {
	words := []string{"lab, built from"}
	info, ok := debug.ReadBuildInfo()
	switch of := program.StampOf(info); {
	case !ok || of.Sources == "":
		words = append(words, "sources that it does not name (make build has it name them)")
	default:
		words = append(words, "commit", cmp.Or(of.Commit, "unknown"))
		if of.Modified {
			words = append(words, "with changes")
		}
		words = append(words, "sources", of.Sources)
	}
	return strings.Join(append(words, "by", runtime.Version()), " ")
}

// refusal says in one line what is wrong with a call, and which help tells how to write
// it.
func refusal(wrong *kong.ParseError) error {
	help, says := "lab help", strings.Replace(wrong.Error(), `but got "EOL" (<EOL>)`, "but nothing follows", 1)
	switch of := wrong.Context.Selected(); {
	case of == nil:
		if rest, ok := strings.CutPrefix(says, "unexpected argument "); ok {
			word, guess, _ := strings.Cut(rest, ",")
			says = strings.TrimSuffix(fmt.Sprintf("no command %q,%s", word, guess), ",")
		}
	case says == `expected "<experiment>"`:
		return fmt.Errorf("%s takes one experiment; lab list names them", of.Name)
	default:
		for at := of; at.Parent != nil; at = at.Parent {
			help = strings.Replace(help, "lab help", "lab help "+at.Name, 1)
		}
	}
	if strings.HasSuffix(says, "?") {
		return fmt.Errorf("%s (see %s)", says, help)
	}
	return fmt.Errorf("%s; see %s", says, help)
}

// bounds refuses a value that no run can have.
func bounds(f *kong.Flag) error {
	if f.Target.Kind() == reflect.String && f.Target.String() == "" {
		return fmt.Errorf("--%s is given and empty; give a value, or leave it out", f.Name)
	}
	most := map[string]int64{"port": 65535, "blocks": mostBlocks}[f.Name]
	switch {
	case most > 0 && (f.Target.Int() < 1 || f.Target.Int() > most):
		return fmt.Errorf("--%s %d: use 1 to %d", f.Name, f.Target.Int(), most)
	case f.Name == "budget" && (f.Target.Int() < int64(time.Second) || f.Target.Int() > int64(longest)):
		return fmt.Errorf("--budget %v: use 1s to 24h", f.Target)
	}
	return nil
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
