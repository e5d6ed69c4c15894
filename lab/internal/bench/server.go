package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/line-rate/line-rate/lab/internal/measure"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/strict"
	"github.com/line-rate/line-rate/lab/internal/words"
)

// A Server is one side of a comparison: a command that is started here, or a server that runs already.
type Server struct {
	Name    string
	Command []string // with {addr}, {host} and {port} to be filled in; empty for a server that runs already
	Dir     string   // where the command starts; empty: here
	URL     string   // of a server that runs already, http://HOST:PORT, https://HOST:PORT or unix:/PATH
	Subject string   // whose CPU time is read of that, as pid:1234 or cgroup:/PATH; empty if only its address is known
	Commit  string   // that was built for the command; empty if nothing was

	running *measure.Running // if it runs already

	// What the look sees.
	seen   measure.Tally // of its answers to the load
	chatty bool          // it prints a line for each request
	turns  []turn        // its load so far
	rate   float64       // requests a second under the load asked for, roughly
	beside time.Duration // that a turn takes beside its counted part
	whole  time.Duration // that a turn took in all, with the reference's
	warm   time.Duration // after a start, from then on it is steady
	young  bool          // its cost still fell at the end of the look
}

// mostServers limits the servers of one comparison. All of them are up at once.
const mostServers = 16

var (
	nameOf = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,31}$`) // the form of a server's name, which sentences use
	// forShell is a word that means something to a shell only, and something else to a server that is given it. A word with a
	// blank was in quotes.
	variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	forShell = regexp.MustCompile("^([0-9]?[<>].*|\\|\\|?|&&?|;|[$`].*)$|^\\S+;$")
)

// parseServers parses arguments of the form NAME=COMMAND, NAME=http://HOST:PORT (or https), or with
// pid:PID@ or cgroup:/PATH@ before such an address. The first is the base of all comparisons.
func parseServers(args []string) (out []*Server, err error) {
	if len(args) < 2 || len(args) > mostServers {
		return nil, fmt.Errorf("%s named; name two to %d, as 'old=./server-old --port {port}' 'new=./server-new --port {port}'",
			words.Count(len(args), "server is", "servers are"), mostServers)
	}
	for _, arg := range args {
		s, err := parseServer(arg)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(o *Server) bool { return o.Name == s.Name }) {
			return nil, fmt.Errorf("two servers are called %s; give each a name of its own", s.Name)
		}
		if out = append(out, s); s.form() != out[0].form() {
			return nil, fmt.Errorf("%s and %s are named in different forms, and are not measured alike then; give commands, "+
				"addresses with pid: or cgroup:, or addresses alone, all with https:// or none", out[0].Name, s.Name)
		}
	}
	return out, nil
}

// form is in which way a server is named.
func (s *Server) form() [3]bool {
	return [3]bool{s.URL != "", s.Subject != "", strings.HasPrefix(s.URL, "https:")}
}

// parseRevisions parses the one command of two revisions: its words, or all of them in one.
func parseRevisions(args []string) (out []*Server, err error) {
	text := strict.Shell(args)
	if len(args) == 1 {
		text = args[0]
	}
	out, err = parseServers([]string{"base=" + text, "head=" + text})
	if err == nil && out[0].URL != "" {
		err = errors.New("--base starts a server of each revision; give its command behind --, as -- ./server --addr {addr}")
	}
	return out, err
}

func parseServer(arg string) (*Server, error) {
	name, text, ok := strings.Cut(arg, "=")
	if !ok || !nameOf.MatchString(name) {
		return nil, fmt.Errorf("%q has no name; write NAME=COMMAND, as 'old=./server-old --port {port}'; a name has "+
			"letters, digits and ._+-", strict.Visible(arg, 60))
	}
	s := &Server{Name: name}
	kind, rest, _ := strings.Cut(text, ":")
	scheme, _, schemed := strings.Cut(text, "://")
	switch {
	case kind == "pid" || kind == "cgroup":
		at := strings.LastIndex(rest, "@") // a unit of systemd may have one in its name
		pid, _ := strconv.Atoi(rest[:max(at, 0)])
		if at < 1 || kind == "pid" && pid < 1 {
			return nil, fmt.Errorf("%s: %q says not whose CPU time is read and where it listens; write %s=pid:1234@HOST:PORT "+
				"(pgrep -f NAME finds it) or %s=cgroup:/PATH@HOST:PORT", name, strict.Visible(text, 80), name, name)
		}
		s.Subject = kind + ":" + rest[:at]
		if text = rest[at+1:]; !strings.Contains(text, "://") && !strings.HasPrefix(text, "unix:") {
			text = "http://" + text
		}
		return s, s.locate(text)
	case kind == "unix" || schemed && !strings.ContainsAny(scheme, " /"):
		return s, s.locate(text)
	}
	return s, s.split(text)
}

// split takes a command to start apart.
func (s *Server) split(command string) (err error) {
	s.Command, err = strict.Words(command)
	shell := slices.IndexFunc(s.Command, forShell.MatchString)
	switch {
	case err != nil:
		return fmt.Errorf("%s: its command %w", s.Name, err)
	case shell >= 0:
		return fmt.Errorf("%s: %q is for a shell, and there is none here; write sh -c 'exec …' with the command in quotes",
			s.Name, s.Command[shell])
	case len(s.Command) > 0 && variable.MatchString(s.Command[0]):
		return fmt.Errorf("%s: %q sets a variable, and there is no shell here; begin with env: env %s", s.Name, s.Command[0], command)
	case !strings.Contains(command, "{port}") && !strings.Contains(command, "{addr}"):
		return fmt.Errorf("%s: its command has neither {port} nor {addr}, so it cannot be told where to listen; put "+
			"one where the server takes it, as --port {port}, --listen {addr} or env PORT={port} COMMAND", s.Name)
	}
	return nil
}

// locate takes the address of a server that runs already.
func (s *Server) locate(raw string) error {
	if path, ok := strings.CutPrefix(raw, "unix:"); ok {
		info, err := os.Stat(path)
		if err != nil || info.Mode()&os.ModeSocket == 0 {
			return fmt.Errorf("%s: there is no socket %s; write unix:/PATH of one on which a server listens", s.Name,
				strict.Visible(path, 120))
		}
		path, err = filepath.Abs(path)
		s.URL = "unix:" + path
		return err
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%s: %q is no address of a server; write http://HOST:PORT or https://HOST:PORT, with --http2 for HTTP/2",
			s.Name, strict.Visible(raw, 60))
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("%s: give the path by --url, and here only %s://HOST:PORT", s.Name, u.Scheme)
	}
	if u.Port() == "" {
		u.Host += map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	}
	s.URL = u.Scheme + "://" + u.Host
	return nil
}

// fill is the command with the place to listen filled in.
func (s *Server) fill(addr string) []string {
	host, port, _ := net.SplitHostPort(addr)
	with := strings.NewReplacer("{addr}", addr, "{host}", host, "{port}", port)
	return strict.Map(s.Command, with.Replace)
}

// freePorts finds so many free ports in a row, below those that the kernel gives to the client's
// end of a connection. Else a client's connection could take a server's port between two of its
// starts.
func freePorts(n int) (first int, err error) {
	high := 32_768
	text, _ := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	_, _ = fmt.Sscan(string(text), &high)
	low := max(1024, high-12_000)
	for range 100 {
		if first = low + rand.IntN(max(high-low-n, 1000)); listenable(first, n) == nil {
			return first, nil
		}
	}
	return 0, fmt.Errorf("no %d free ports in a row on %s; name the first of some with --port", n, loopback)
}

// listenable refuses so many ports if a server could not listen on one of them.
func listenable(first, n int) error {
	for p := first; p < first+n; p++ {
		l, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(p)))
		if err != nil {
			return fmt.Errorf("no server can listen on port %d (%w); choose another with --port, or leave it out for free ones", p, err)
		}
		l.Close()
	}
	return nil
}

// It builds two git revisions, each in a worktree of its own below a directory for temporary files. Without a name for
// the second, uncommitted changes count too: they go into a commit that no branch has, which git removes when it next
// collects garbage. What git ignores, such as a folder of installed packages, the build has to make.

// cleaner waits for the end of its input, which comes with that of this process, however it ends, and removes the worktrees.
// A build may leave directories that nobody may write to, and may write while it is ended.
const cleaner = `cat
for i in 1 2 3 4 5; do
  rm -rf "$1"/* && break
  chmod -R u+w "$1"
  sleep 0.2
done
for tree in base head; do
  git -C "$2" worktree remove --force --force "$1/$tree"
done
rmdir "$1"`

// uncommitted prints a commit of the working tree as it is, which is HEAD where that is the same.
const uncommitted = `set -e
git read-tree HEAD
git add --all
tree=$(git write-tree)
[ "$tree" != "$(git rev-parse HEAD^{tree})" ] || exec git rev-parse HEAD
export GIT_AUTHOR_NAME=linerate GIT_AUTHOR_EMAIL=linerate@localhost
export GIT_COMMITTER_NAME=linerate GIT_COMMITTER_EMAIL=linerate@localhost
git commit-tree "$tree" -p HEAD -m "The working tree, as it was compared"`

// checkout checks out two revisions of the repository that this call is made in, and builds them; an
// empty head is the working tree. The servers then start there. The caller calls remove in the end, if there is no error.
func (b *Bench) checkout(ctx context.Context) (remove func(), err error) {
	where, err := said(ctx, "", "git", "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir", "--show-prefix")
	if err != nil {
		return nil, fmt.Errorf("--base needs git, and a working tree: %w", err)
	}
	at := append(strings.Split(where, "\n"), "") // the last is empty at the top
	top, common, prefix := at[0], at[1], at[2]
	dir, err := os.MkdirTemp("", "linerate-worktrees-")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("sh", "-c", cleaner, "sh", dir, common)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no signal of a terminal is for it
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		os.Remove(dir)
		return nil, err
	}
	remove = func() {
		in.Close()
		_ = cmd.Wait()
	}
	for i, revision := range []string{b.Base, b.Head} {
		if err := b.build(ctx, b.Servers[i], revision, dir, top, prefix); err != nil {
			remove()
			return nil, err
		}
	}
	if b.Servers[0].Commit == b.Servers[1].Commit {
		b.note("base and head are the same files")
	}
	return remove, nil
}

// build makes the worktree of one revision, and builds it.
func (b *Bench) build(ctx context.Context, s *Server, revision, dir, top, prefix string) (err error) {
	name := fmt.Sprintf("%s (%s)", s.Name, revision)
	if revision == "" {
		name = s.Name + " (the working tree)"
		s.Commit, err = said(ctx, top, "env", "GIT_INDEX_FILE="+filepath.Join(dir, "index"), "sh", "-c", uncommitted)
	} else if s.Commit, err = said(ctx, top, "git", "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}"); err != nil {
		err = fmt.Errorf("--%s %s: git knows no such commit here; fetch it first (of a shallow clone: git fetch --unshallow)",
			s.Name, strict.Visible(revision, 60))
	}
	if err != nil {
		return err
	}
	tree := filepath.Join(dir, s.Name)
	if _, err = said(ctx, top, "git", "-c", "core.hooksPath=/dev/null", "worktree", "add", "--detach", tree, s.Commit); err != nil {
		return err
	}
	if s.Dir = filepath.Join(tree, prefix); b.Build != "" {
		// It has the caller's environment, since a build needs its caches, and is held, so that none outlives this call.
		b.Say("building %s", name)
		var last []string // lines
		err := proc.Run(ctx, proc.Spec{Dir: s.Dir, Argv: slices.Concat(b.Self, []string{measure.HoldCall, "sh", "-c", b.Build}),
			Env: os.Environ(), Held: true, Lines: func(line string) { last = append(last[max(0, len(last)-14):], line) }})
		if failed, is := errors.AsType[proc.Failure](err); is {
			exit, _ := errors.AsType[*exec.ExitError](failed.Status)
			if err = nil; exit == nil || exit.ExitCode() != proc.Forked { // the daemon of a build tool may stay, and has been ended
				for _, line := range last {
					b.Say("  %s", strict.Line(line, 300))
				}
				err = fmt.Errorf("%s: %q failed (%w)", name, b.Build, failed.Status)
			}
		}
		if err != nil {
			return err
		}
	}
	if _, err := os.Stat(s.Dir); err != nil {
		return fmt.Errorf("%s has no directory %s; call from one that both revisions have", name, prefix)
	}
	return nil
}

// said runs a program in a directory, and gives what it printed, or as an error what it complained of.
func said(ctx context.Context, dir string, argv ...string) (string, error) {
	var out bytes.Buffer
	err := proc.Run(ctx, proc.Spec{Dir: dir, Argv: argv, Env: append(os.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"), Stdout: &out})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s: %s", argv[0], strict.Line(err.Error(), 300))
	}
	return strings.TrimSpace(out.String()), err
}
