// Package topology joins client and server: over loopback, or over a wire of
// known line rate between two network namespaces.
//
// lab/scripts/wire.sh makes the wire, and a reader can run it too; this package
// starts and ends it.
package topology

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/scripts"
)

// Unavailable says that this machine cannot make the topology. It is not a
// failure of the run: claims that need it are not applicable here.
type Unavailable struct{ Why string }

func (u Unavailable) Error() string { return u.Why }

// A Link is a topology that is up.
type Link struct {
	Host      string // where the server listens and the client connects
	Command   string // command line that made it, for the record
	NetPID    int    // a process on the server's side of the wire; 0 without a wire
	NetDevice string // the server's interface there

	PeerDevice string      // the client's interface
	wrap       [2][]string // prefixes for a command of the server and of the client
	holder     *proc.Proc
	lifeln     *os.File // closing it ends the wire
}

// wire is the script's name in messages.
const wire = "wire.sh"

// Carried calls the script where there is no clone.
var Carried = []string{"bash", "-c", scripts.Wire, wire}

// Up makes the topology. dir is where commands start, and script the words that call
// wire.sh from there. With asRoot the wire is made as root without a user
// namespace: only then can some of its settings be changed.
func Up(t experiment.Topology, dir string, script []string, asRoot bool) (*Link, error) {
	if t.Kind == "loopback" {
		return &Link{Host: "127.0.0.1"}, nil
	}
	argv := append(slices.Clone(script), "up")
	if asRoot {
		argv = append(argv, "--as-root")
	}
	argv = append(argv, "--rate", strconv.FormatFloat(t.LineRateBps, 'f', 0, 64),
		"--burst", strconv.FormatInt(t.BurstBytes, 10), "--queue", strconv.FormatFloat(t.QueueS, 'g', -1, 64))
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ready := make(chan map[string]string, 1)
	holder, err := proc.Start(proc.Spec{Dir: dir, Argv: argv, Stdin: r, Lines: func(l string) {
		if rest, ok := strings.CutPrefix(l, "wire ready "); ok {
			ready <- fields(rest)
		}
	}})
	r.Close()
	if err != nil {
		w.Close()
		return nil, err
	}
	l := &Link{Command: strings.Join(argv, " "), holder: holder, lifeln: w}
	var said map[string]string
	select {
	case said = <-ready:
	case <-holder.Done():
		l.Down()
		return nil, refusal(holder)
	case <-time.After(10 * time.Second):
		l.Down()
		return nil, fmt.Errorf("%s was not ready after ten seconds: %s", wire, holder.LastLine())
	}
	l.Host, l.NetDevice, l.PeerDevice = said["server_addr"], said["server_dev"], said["client_dev"]
	if l.NetPID, err = strconv.Atoi(said["server_pid"]); err != nil {
		l.Down()
		return nil, fmt.Errorf("%s gave no server_pid", wire)
	}
	l.wrap[0] = slices.Concat(script, []string{"in", "server", said["server_pid"], "--"})
	l.wrap[1] = slices.Concat(script, []string{"in", "client", said["client_pid"], "--"})
	return l, nil
}

// The exit statuses of wire.sh that mean "not on this machine".
const (
	toolMissing  = 3
	noNamespaces = 4
)

func refusal(p *proc.Proc) error {
	why := strings.TrimPrefix(p.LastLine(), wire+": ")
	if c := p.ExitCode(); c == toolMissing || c == noNamespaces {
		return Unavailable{why}
	}
	return fmt.Errorf("the wire could not be made: %s (%v)", why, p.Err())
}

func fields(line string) map[string]string {
	m := map[string]string{}
	for _, f := range strings.Fields(line) {
		k, v, _ := strings.Cut(f, "=")
		m[k] = v
	}
	return m
}

// Server and Client give the command line that runs a command on that side.
func (l *Link) Server(argv []string) []string { return slices.Concat(l.wrap[0], argv) }
func (l *Link) Client(argv []string) []string { return slices.Concat(l.wrap[1], argv) }

// Lost tells whether the wire has ended by itself.
func (l *Link) Lost() bool { return l.holder != nil && l.holder.Gone() }

// Down removes the topology. It may be called twice.
func (l *Link) Down() {
	if l.holder == nil {
		return
	}
	l.lifeln.Close()
	_ = l.holder.Stop(l.holder.Pid(), time.Second)
}
