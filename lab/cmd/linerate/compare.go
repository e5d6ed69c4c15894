package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/compare"
	"github.com/line-rate/line-rate/lab/internal/bench"
	"github.com/line-rate/line-rate/lab/internal/cli"
	"github.com/line-rate/line-rate/lab/internal/machine"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/tell"
	"github.com/line-rate/line-rate/lab/internal/words"
)

type compareCall struct {
	bench.Flags
	outputs
}

func (c *compareCall) do(ctx context.Context, out io.Writer) (int, error) {
	b, err := bench.New(c.Flags)
	if err = cmp.Or(err, c.check()); err != nil {
		return cli.Failed, err
	}
	line := cli.NewLine(os.Stderr)
	b.Say, b.Show = line.Say, func(text string) { line.Show("  "+text, false) }
	made, err := b.Compare(ctx)
	line.End()
	if ctx.Err() != nil {
		err = errors.New("interrupted, and nothing was left behind")
	}
	if made == nil {
		return cli.Failed, err
	}
	built, modified := cli.Commit()
	if made.Lab = cmp.Or(built, "unknown"); modified {
		made.Lab = "unknown"
	}
	made.Machine, made.Kernel = cpu()
	made.Notes = append([]string{where(b)}, made.Notes...)
	made.Typed, made.Says, made.Exit = typed(os.Args), tell.Lines(made, true), made.Status()
	return made.Exit, cmp.Or(err, c.print(out, made))
}

// typed is the command line for a shell, without what says how to print and without the path of
// linerate itself.
func typed(args []string) string {
	said := slices.DeleteFunc(slices.Clone(args[1:]), func(word string) bool {
		return slices.Contains([]string{"--json", "-json", "--markdown", "-markdown"}, word)
	})
	return strict.Shell(append([]string{filepath.Base(args[0])}, said...))
}

// cpu names the CPU as the kernel does, with its cores, and the kernel's version.
func cpu() (name, kernel string) {
	name = runtime.GOARCH + " processor" // as on arm64, whose kernel names none
	text := machine.Read("/proc/cpuinfo")
	if _, rest, ok := strings.Cut(text, "model name"); ok {
		name, _, _ = strings.Cut(strings.TrimLeft(rest, "\t :"), "\n")
	}
	return fmt.Sprintf("%s, %d cores", name, strings.Count(text, "processor\t:")), machine.Read("/proc/sys/kernel/osrelease")
}

// where is what to know of the cores that the servers share.
func where(b *bench.Bench) string {
	server, client := machine.Format(b.ServerCPUs), machine.Format(b.ClientCPUs)
	switch n := len(b.ServerCPUs); {
	case b.Running() && !b.Costed():
		return "the client ran on CPU " + client
	case b.Running():
		return fmt.Sprintf("the servers ran where they were put, on CPU %s, and the client on CPU %s; a server that has a core to "+
			"itself is disturbed least (taskset -cp)", server, client)
	case server == client:
		return "server and client share CPU " + client + " here: throughput and latency are of both together, and each request costs what " +
			"sharing adds"
	default:
		return fmt.Sprintf("all servers ran on CPU %s, in turns, and the client on CPU %s: what more than %s gain elsewhere is not "+
			"seen here", server, client, words.Count(n, "worker or thread", "workers or threads"))
	}
}

// outputs are the forms of one comparison's result.
type outputs struct {
	Verbose      bool   `short:"v" help:"Print all figures and notes."`
	JSON         bool   `name:"json" help:"Print JSON, for programs."`
	Markdown     bool   `help:"Print Markdown, for a pull request."`
	JSONFile     string `more:"" name:"json-file" placeholder:"FILE" help:"Also write the JSON to a file."`
	MarkdownFile string `more:"" placeholder:"FILE" help:"Also write the Markdown to a file."`
}

// check refuses files that could not be written in the end.
func (o outputs) check() error {
	if o.JSON && o.Markdown {
		return errors.New("--json and --markdown both print; write one of them to a file with --json-file or --markdown-file")
	}
	for _, path := range []string{o.JSONFile, o.MarkdownFile} {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a directory; name a file", path)
		}
		if err := unix.Access(filepath.Dir(path), unix.W_OK); path != "" && err != nil {
			return fmt.Errorf("%s cannot be written: %w; name a file in a directory that is there and yours", path, err)
		}
	}
	return nil
}

// print prints an outcome, and writes the files; it goes on with the others if one fails.
func (o outputs) print(out io.Writer, made *compare.Outcome) error {
	data, err := asJSON(made)
	comment, text := []byte(tell.Markdown(made)), []byte{}
	switch {
	case o.JSON:
		text = data
	case o.Markdown:
		text = comment
	default:
		for _, line := range tell.Lines(made, o.Verbose) {
			text = append(text, cli.Fit(line, cli.Columns(out))+"\n"...)
		}
	}
	if err == nil {
		_, err = out.Write(text)
	}
	for path, text := range map[string][]byte{o.JSONFile: data, o.MarkdownFile: comment} {
		if path != "" {
			err = errors.Join(err, strict.Replace(path, text))
		}
	}
	return err
}

func asJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}
