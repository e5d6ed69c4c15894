// Package fleet loads a server from other machines, by plain ssh.
//
// The lab runs on the server's machine. It copies its own program to each host once, into the user's
// cache, by the name of its content. For each block it starts a relay here, which speaks to the engine as a
// client of this machine does (see load.Serve), and to a client on each host:
//
//	engine      relay             c1, c2: PROGRAM client, by ssh
//	  slot ──▶  its part ──▶      fill: until each connection has had its first answer
//	            filled   ◀──      and go on, until all have filled
//	            count    ──▶      count, and drain
//	  sum  ◀──  report   ◀──
//
// Nothing is in flight before and after, so the engine's readings of the server's clocks are exact, and no clock
// of a host is compared with another's. Throughput is the sum over each host's own window. ~/.ssh/config has
// addresses, users, ports and keys. A host's client ends with its input, and the relay with the
// engine's.
package fleet

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Host is a machine that loads.
type Host struct {
	Name    string // as ssh knows it
	Path    string // of the program there
	Machine        // as the lab found it
	reaches string // the address of this machine, as the host reaches it
}

// within is how long a host may take to answer, and copyWithin to take the program.
const (
	within     = 15 * time.Second
	copyWithin = 2 * time.Minute
)

// Open makes hosts ready, side by side. An error names the host.
func Open(ctx context.Context, names []string) (*Fleet, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	f := &Fleet{Hosts: make([]Host, len(names)), self: self}
	for i, name := range names {
		switch {
		case name == "" || name[0] == '-' || strings.ContainsAny(name, "= \t'"):
			return nil, fmt.Errorf("--client %q: give a name that ssh knows", name)
		case slices.Contains(names[:i], name):
			return nil, fmt.Errorf("--client %s: it is there twice", name)
		}
	}
	errs := make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() { f.Hosts[i], errs[i] = f.ready(ctx, name) })
	}
	all.Wait()
	if err, failed := strict.Find(errs, func(err error) bool { return err != nil }); failed {
		return nil, err
	}
	for _, h := range f.Hosts[1:] {
		if h.reaches != f.Hosts[0].reaches {
			return nil, fmt.Errorf("%s reaches this machine as %s, and %s as %s; give them one network", f.Hosts[0].Name,
				f.Hosts[0].reaches, h.Name, h.reaches)
		}
	}
	return f, nil
}

// facts prints, on a line each, a mark, the system, the address of who logs in, where the program is or has to be, and
// its digest. What a login shell prints comes before the mark.
const facts = `f=${XDG_CACHE_HOME:-$HOME/.cache}/line-rate/%s
echo line-rate
uname -sm
echo "${SSH_CONNECTION%%%% *}"
echo "$f"
sha256sum "$f" 2>/dev/null || echo none`

// place takes a program from its input, whole or not at all.
const place = `set -e
umask 077
f=%s
mkdir -p "${f%%/*}"
trap 'rm -f "$f.$$"' EXIT
cat >"$f.$$"
[ "$(sha256sum <"$f.$$")" = "%s  -" ] || { echo "it came in part only" >&2; exit 1; }
chmod 700 "$f.$$"
mv "$f.$$" "$f"`

// ready copies the program to a host, unless it is there, and calls it.
func (f *Fleet) ready(ctx context.Context, name string) (h Host, err error) {
	h.Name = name
	said, err := run(ctx, name, within, fmt.Sprintf(facts, program()), nil)
	if err != nil {
		return h, err
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if lines[0] != "line-rate" || len(lines) != 5 {
		return h, fmt.Errorf("%s: its login shell printed %q where the program's output is expected; have it print for terminals only",
			name, strict.Line(lines[0], 60))
	}
	h.reaches, h.Path = lines[2], lines[3]
	switch has, _, _ := strings.Cut(lines[4], " "); {
	case lines[1] != system():
		return h, fmt.Errorf("%s is %s, and this program is for %s", name, lines[1], system())
	case net.ParseIP(h.reaches).To4() == nil:
		return h, fmt.Errorf("%s was not reached by IPv4, but from %q; add AddressFamily inet to its entry in ~/.ssh/config", name, h.reaches)
	case device(h.reaches) == "":
		return h, fmt.Errorf("%s was reached from %s, which is no address of this machine; load from machines without a host between",
			name, h.reaches)
	case has != "none" && has != program():
		return h, fmt.Errorf("%s: %s is another program than its name says; remove it", name, h.Path)
	case has == "none":
		file, err := os.Open(f.self)
		if err == nil {
			defer file.Close()
			_, err = run(ctx, name, copyWithin, fmt.Sprintf(place, quote(h.Path), program()), file)
		}
		if err != nil {
			return h, fmt.Errorf("%w; the program was not copied", err)
		}
	}
	return h, h.look(ctx)
}

// look asks the program there for its machine.
func (h *Host) look(ctx context.Context) error {
	t, err := h.start(machineCall)
	if err != nil {
		return err
	}
	defer t.End()
	_ = t.Tell(struct{}{}) // if it has ended, it is not heard
	if err := t.Hear(ctx, within, &h.Machine); err != nil {
		return why(h.Name, t.Proc, err)
	}
	return nil
}

// start starts the program on the host with a call of its own.
func (h *Host) start(call string) (*proc.Talk, error) {
	return proc.StartTalk(proc.Spec{Argv: ssh(h.Name, "exec "+quote(h.Path)+" "+call), Env: environment()})
}

// environment has what ssh needs of the caller's.
func environment() []string {
	return proc.Caller("HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK", "KRB5CCNAME", "XDG_RUNTIME_DIR")
}

// ssh is the command that runs a line of sh on a host. It ends a few seconds after the network is cut.
func ssh(host, line string) []string {
	return []string{"ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=1",
		"-o", "ServerAliveCountMax=3", "-o", "ControlMaster=no", "-o", "ControlPath=none", "-o", "ClearAllForwardings=yes", "--", host, "exec sh -c " + quote(line)}
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// run runs a line on a host to its end, and gives what it printed.
func run(ctx context.Context, host string, limit time.Duration, line string, in io.Reader) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it did not answer within %v", limit))
	defer cancel()
	var out bytes.Buffer
	p, err := proc.Start(proc.Spec{Argv: ssh(host, line), Env: environment(), Stdin: in, Stdout: &out})
	if err != nil {
		return "", fmt.Errorf("ssh did not start: %w", err)
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		_ = p.Stop(p.Pid(), time.Second)
		return "", fmt.Errorf("%s: %w", host, context.Cause(ctx))
	}
	err = why(host, p, p.Err())
	if err != nil && p.ExitCode() == own {
		err = fmt.Errorf("%w\ntry: ssh %s true", err, host)
	}
	return out.String(), err
}

// own is the status of ssh for an error of its own.
const own = 255

// why names the host of an error. What ends in a moment says itself why.
func why(host string, p *proc.Proc, err error) error {
	if err == nil {
		return nil
	}
	select {
	case <-p.Done():
	case <-time.After(time.Second):
		return fmt.Errorf("%s: %w", host, err)
	}
	if p.ExitCode() == own {
		return fmt.Errorf("%s: ssh: %s", host, cmp.Or(strings.TrimSpace(p.LastLine()), "its program was killed"))
	}
	return fmt.Errorf("%s: %s", host, cmp.Or(p.LastLine(), fmt.Sprintf("its program ended (%v)", p.Err())))
}

// program is the digest of this program; empty if it cannot be read.
var program = sync.OnceValue(func() string {
	sum, _ := host.Digest("/proc/self/exe")
	return sum
})

// system is this machine's kernel and processor, as uname has them.
func system() string {
	var u unix.Utsname
	_ = unix.Uname(&u) // which every Unix has
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Machine[:])
}
