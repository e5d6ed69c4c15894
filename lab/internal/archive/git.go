package archive

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
)

// Limits of what is asked of git: the time of one command, the size of what it
// lists, and the size of one file of a commit, both in bytes. No file of the
// journal is larger.
const (
	gitTime    = 2 * time.Minute
	mostListed = 64 << 20
	mostBlob   = 8 << 20
)

// noHistory says why git cannot tell anything about the journal here.
type noHistory string

func (n noHistory) Error() string { return string(n) }

// history is the git history that a checkout has.
type history struct{ root journal.Root }

// openHistory finds the history, or returns a noHistory: a tarball has none, and
// a shallow or a partial clone has too little.
func openHistory(root journal.Root) (history, error) {
	h := history{root}
	// A journal inside another project's checkout has no history of its own.
	about, err := h.line("rev-parse", "--show-prefix", "--is-shallow-repository")
	prefix, shallow, _ := strings.Cut(about, "\n")
	if err != nil || prefix != "" {
		return h, noHistory("no git history here")
	}
	if shallow != "false" {
		return h, noHistory("no git history in a shallow clone; git fetch --unshallow adds it")
	}
	if partial, err := h.line("config", "--get-regexp", `^remote\..*\.promisor$`); err == nil && partial != "" {
		return h, noHistory("no full git history in a partial clone; clone without --filter")
	}
	if _, err := h.commit("HEAD"); err != nil {
		return h, noHistory("no git history here: no commit yet")
	}
	return h, nil
}

// run runs git, gives it an input, and has its output read. Not all of it has to
// be read.
func (h history) run(input string, read func(io.Reader) error, args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), gitTime)
	defer cancel()
	cmd := host.Git(ctx, string(h.root), args...)
	var said bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(input), &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	err = read(out)
	if err != nil {
		cancel() // so that git does not wait for its output to be read
	}
	if ended := cmd.Wait(); err == nil && ended != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		err = fmt.Errorf("git %s: %w: %s", args[0], ended, first)
	}
	return err
}

// text is the output of a git command.
func (h history) text(args ...string) (out string, err error) {
	err = h.run("", func(r io.Reader) error {
		data, err := io.ReadAll(io.LimitReader(r, mostListed+1))
		if err == nil && len(data) > mostListed {
			err = fmt.Errorf("git %s lists more than %d bytes", args[0], mostListed)
		}
		out = string(data)
		return err
	}, args...)
	return out, err
}

// line is the output of a git command that prints one line.
func (h history) line(args ...string) (string, error) {
	out, err := h.text(args...)
	return strings.TrimSuffix(out, "\n"), err
}

// commit resolves the name of a revision.
func (h history) commit(revision string) (string, error) {
	return h.line("rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
}

// commits has the commits of HEAD's history, with the times at which they were
// committed.
func (h history) commits() (map[string]time.Time, error) {
	list, err := h.text("log", "--format=%H %ct", "HEAD")
	if err != nil {
		return nil, err
	}
	out := map[string]time.Time{}
	for line := range strings.Lines(list) {
		name, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		s, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("git log: %w", err)
		}
		out[name] = time.Unix(s, 0).UTC()
	}
	return out, nil
}

// read gives each object its content, in the order asked for: names of blobs, or
// commit:path. A missing one is nil.
func (h history) read(names []string, each func(name string, data []byte) error) error {
	if len(names) == 0 {
		return nil
	}
	return h.run(strings.Join(names, "\n")+"\n", func(r io.Reader) error {
		b := bufio.NewReader(r)
		for _, name := range names {
			head, err := b.ReadString('\n')
			if err != nil {
				return fmt.Errorf("git cat-file: %w", err)
			}
			var data []byte
			if head != name+" missing\n" {
				f := strings.Fields(head)
				size, err := strconv.ParseInt(f[len(f)-1], 10, 64)
				if err != nil || len(f) != 3 {
					return fmt.Errorf("git cat-file says %q", head)
				}
				if size > mostBlob {
					return fmt.Errorf("%s has %d bytes, which no file of the journal has", name, size)
				}
				data = make([]byte, size+1) // a line feed follows
				if _, err := io.ReadFull(b, data); err != nil {
					return fmt.Errorf("git cat-file: %w", err)
				}
				data = data[:size]
			}
			if err := each(name, data); err != nil {
				return err
			}
		}
		return nil
	}, "cat-file", "--batch")
}
