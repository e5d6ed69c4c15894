package bench

import (
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

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Server is one side of a comparison: a command that is started here, or a server that runs already.
type Server struct {
	Name string
	// Command is the words of the command, with {addr}, {host} and {port} to be filled in. It is empty
	// for a server that runs already.
	Command []string
	Dir     string // where the command starts; empty: in the caller's directory
	URL     string // of a server that runs already, http://HOST:PORT, https://HOST:PORT or unix:/PATH
	// Subject is whose CPU time is read of a server that runs already, as pid:1234 or cgroup:/PATH;
	// empty if only its address is known.
	Subject string
	Commit  string // that was built for the command; empty if nothing was

	found *found // of a server that runs already, whose processes are known
}

// mostServers limits the servers of one comparison. All of them are up at once.
const mostServers = 16

var (
	nameOf = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,31}$`) // what a server may be called: it stands in sentences
	// forShell is a word that means something to a shell only. A server that is given "|" as a word would
	// do something else than what was meant. A word with a blank was in quotes.
	forShell = regexp.MustCompile("^([0-9]?[<>].*|\\|\\|?|&&?|;|[$`].*)$|^\\S+;$")
)

// parseServers parses arguments of the form NAME=COMMAND, NAME=http://HOST:PORT (or https), or with
// pid:PID@ or cgroup:/PATH@ before such an address. The first is the one that the others are compared
// with.
func parseServers(args []string) ([]Server, error) {
	if len(args) < 2 || len(args) > mostServers {
		return nil, fmt.Errorf("name two to %d servers, as 'old=./server-old --port {port}' 'new=./server-new --port {port}'; "+
			"here %d are named", mostServers, len(args))
	}
	var out []Server
	for _, arg := range args {
		s, err := parseServer(arg)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(o Server) bool { return o.Name == s.Name }) {
			return nil, fmt.Errorf("two servers are called %s; give each a name of its own", s.Name)
		}
		if out = append(out, s); s.kind() != out[0].kind() {
			return nil, fmt.Errorf("%s is %s and %s is %s, which are not measured alike; give all servers in one form",
				out[0].Name, out[0].kind(), s.Name, s.kind())
		}
	}
	return out, nil
}

// kind says in which way a server is named.
func (s Server) kind() string {
	over := ""
	if strings.HasPrefix(s.URL, "https://") {
		over = " over TLS"
	}
	switch {
	case s.URL == "":
		return "a command to start"
	case s.Subject == "":
		return "an address alone" + over
	}
	return "an address with its processes" + over
}

// parseRevisions parses the one command of two revisions: its words, or all of them in one.
func parseRevisions(args []string) (out []Server, err error) {
	text := strict.Shell(args)
	if len(args) == 1 {
		text = args[0]
	}
	for _, name := range []string{"base", "head"} {
		s, err := parseServer(name + "=" + text)
		if err == nil && s.URL != "" {
			err = errors.New("--base starts a server of each revision; give its command behind --, as -- ./server --addr {addr}")
		}
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func parseServer(arg string) (Server, error) {
	name, command, ok := strings.Cut(arg, "=")
	if !ok || !nameOf.MatchString(name) {
		return Server{}, fmt.Errorf("%q has no name; write NAME=COMMAND, as 'old=./server-old --port {port}'; a name has "+
			"letters, digits and ._+-", strict.Visible(arg, 60))
	}
	s := Server{Name: name}
	command, err := s.subject(command)
	if err != nil {
		return s, err
	}
	scheme, _, ok := strings.Cut(command, "://")
	if s.Subject != "" || strings.HasPrefix(command, "unix:") || ok && !strings.ContainsAny(scheme, " /") {
		return s.at(command)
	}
	split, err := strict.Words(command)
	shell := slices.IndexFunc(split, forShell.MatchString)
	switch {
	case err != nil:
		return s, fmt.Errorf("%s: its command %w", name, err)
	case shell >= 0:
		return s, fmt.Errorf("%s: %q is for a shell, and there is none here; write sh -c 'exec …' with the command in quotes",
			name, split[shell])
	case len(split) == 0:
		return s, fmt.Errorf("%s has no command; write %s='./server --port {port}'", name, name)
	}
	s.Command = split
	if !strings.Contains(command, "{port}") && !strings.Contains(command, "{addr}") {
		return s, fmt.Errorf("%s: its command has neither {port} nor {addr}, so it cannot be told where to listen; put "+
			"one where the server's own option takes it, as --port {port} or --listen {addr}", name)
	}
	return s, nil
}

// at is a server that runs already.
func (s Server) at(raw string) (Server, error) {
	if path, ok := strings.CutPrefix(raw, "unix:"); ok {
		whole, err := filepath.Abs(path)
		info, missing := os.Stat(path)
		if err != nil || missing != nil || info.Mode()&os.ModeSocket == 0 {
			return s, fmt.Errorf("%s: there is no socket %s; write unix:/PATH of one on which a server listens", s.Name,
				strict.Visible(path, 120))
		}
		s.URL = "unix:" + whole
		return s, nil
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https":
		return s, fmt.Errorf("%s: %q is no address of a server; write http://HOST:PORT or https://HOST:PORT, with --http2 for HTTP/2",
			s.Name, strict.Visible(raw, 60))
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
		return s, fmt.Errorf("%s: give the path by --url, and here only %s://HOST:PORT", s.Name, u.Scheme)
	}
	if u.Port() == "" {
		u.Host += map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	}
	s.URL = u.Scheme + "://" + u.Host
	return s, nil
}

// address is HOST:PORT of a server that runs already, or unix:/PATH.
func (s Server) address() string {
	return strings.TrimPrefix(strings.TrimPrefix(s.URL, "http://"), "https://")
}

// fill is the command with the place to listen filled in.
func (s Server) fill(port int) (out []string) {
	at := fmt.Sprintf("%s:%d", loopback, port)
	with := strings.NewReplacer("{addr}", at, "{host}", loopback, "{port}", strconv.Itoa(port))
	for _, word := range s.Command {
		out = append(out, with.Replace(word))
	}
	return out
}

// program is the path of a command's first word, by the caller's directory or by PATH.
func (s Server) program(dir string) (string, error) {
	word := s.Command[0]
	if strings.Contains(word, "/") && !filepath.IsAbs(word) {
		word = filepath.Join(dir, word)
	}
	path, err := exec.LookPath(word)
	if err != nil {
		return word, fmt.Errorf("%s: %s cannot be started (%w); build it first, correct the path, or chmod +x it", s.Name, s.Command[0],
			errors.Unwrap(err))
	}
	return path, nil
}

// freePorts finds so many ports in a row that nothing listens on, below those from which the kernel
// takes a connection's own end: a client's connections would else take a server's port between two of
// its starts.
func freePorts(n int) (first int, err error) {
	low, high := 20_000, 32_768
	text, _ := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if _, _ = fmt.Sscan(string(text), &high); high-low < 100*n {
		low, high = 1024, max(high, 1024+100*n)
	}
	for range 100 {
		if first = low + rand.IntN(high-low-n); listenable(first, n) == nil {
			return first, nil
		}
	}
	return 0, fmt.Errorf("no %d free ports in a row on %s; name the first of some with --port", n, loopback)
}

// listenable refuses so many ports if a server could not listen on one of them.
func listenable(first, n int) error {
	if first+n > 65536 {
		return fmt.Errorf("--port %d: %d ports are needed from there on, and the last is 65535", first, n)
	}
	for p := first; p < first+n; p++ {
		l, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(p)))
		if err != nil {
			return fmt.Errorf("no server can listen on port %d (%w); choose another with --port, or leave it out for free ones", p, err)
		}
		l.Close()
	}
	return nil
}
