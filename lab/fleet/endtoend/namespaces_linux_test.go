package endtoend

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Unavailable says that this machine cannot make a fleet.
type Unavailable struct{ Why string }

func (u Unavailable) Error() string { return u.Why }

// A Fleet of namespaces on this machine is up until Down is called or this process ends.
//
// Nothing in it is simulated but the hosts, which share one kernel, one wall clock and the
// machine's cores.
type Fleet struct {
	Dir   string   // of its files; each host's home directory is in Dir/NAME/home
	Names []string // of the hosts: server, client1, client2, …, controller

	script string
	pids   map[string]int // first process of each host
	holder *exec.Cmd
	life   io.Closer
	log    strings.Builder
}

// upWithin bounds the wait for a fleet, which takes some tenths of a second.
const upWithin = 60 * time.Second

// The exit statuses of fleet.sh that mean "not on this machine".
const (
	toolMissing  = 3
	noNamespaces = 4
)

// Up makes a fleet whose files go to dir. top is the repository's root, and options
// are those of fleet.sh up. The error is Unavailable if this machine cannot make
// one.
func Up(top, dir string, options ...string) (*Fleet, error) {
	f := &Fleet{Dir: dir, script: filepath.Join(top, "lab/scripts/fleet.sh"), pids: map[string]int{}}
	f.holder = exec.Command(f.script, append([]string{"up", "--dir", dir}, options...)...)
	f.holder.Stderr = &f.log
	// Descriptors of the test's own must not keep it from ending.
	f.holder.WaitDelay = time.Second
	out, err := f.holder.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if f.life, err = f.holder.StdinPipe(); err != nil {
		return nil, err
	}
	if err := f.holder.Start(); err != nil {
		return nil, err
	}
	ready := make(chan bool, 1)
	go func() {
		lines := bufio.NewScanner(out)
		ready <- lines.Scan() && strings.HasPrefix(lines.Text(), "fleet ready ")
		_, _ = io.Copy(io.Discard, out)
	}()
	select {
	case ok := <-ready:
		if !ok {
			return nil, f.refusal()
		}
	case <-time.After(upWithin):
		f.life.Close()
		_ = f.holder.Process.Kill()
		_ = f.holder.Wait()
		return nil, fmt.Errorf("no fleet within %v: %s", upWithin, f.log.String())
	}
	if err := f.readPids(); err != nil {
		return nil, errors.Join(err, f.Down())
	}
	return f, nil
}

func (f *Fleet) refusal() error {
	f.life.Close()
	err := f.holder.Wait()
	why := strings.TrimPrefix(strings.TrimSpace(f.log.String()), "fleet.sh: ")
	if c := f.holder.ProcessState.ExitCode(); c == toolMissing || c == noNamespaces {
		return Unavailable{why}
	}
	return fmt.Errorf("the fleet could not be made: %s (%v)", why, err)
}

func (f *Fleet) readPids() error {
	text, err := os.ReadFile(filepath.Join(f.Dir, "pids"))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return fmt.Errorf("%s/pids: %q is no host", f.Dir, line)
		}
		pid, err := strconv.Atoi(fields[1])
		if err != nil {
			return err
		}
		f.Names = append(f.Names, fields[0])
		f.pids[fields[0]] = pid
	}
	return nil
}

// Inventory is the path of the fleet's inventory.
func (f *Fleet) Inventory() string { return filepath.Join(f.Dir, "inventory.yml") }

// Root is where the lab's checkout is on a host.
func (f *Fleet) Root(host string) string { return filepath.Join(f.Dir, host, "home", "line-rate") }

// Environment adds a variable to the sessions that sshd begins on a host.
func (f *Fleet) Environment(host, name, value string) error {
	e, err := os.OpenFile(filepath.Join(f.Dir, host, "home/.ssh/environment"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e, "%s=%s\n", name, value)
	return errors.Join(err, e.Close())
}

// On is a command that runs on a host as root of its namespaces, in the directory
// of this process.
func (f *Fleet) On(host string, argv ...string) *exec.Cmd {
	return exec.Command(f.script, append([]string{"in", "--dir", f.Dir, host, "--"}, argv...)...)
}

// Down ends the fleet and waits until nothing of it is left. It may be called
// twice.
func (f *Fleet) Down() error {
	inside := f.Processes(f.Names...)
	f.life.Close()
	ended := make(chan error, 1)
	go func() { ended <- f.holder.Wait() }()
	select {
	case <-ended:
	case <-time.After(goneWithin):
		_ = f.holder.Process.Kill()
		<-ended
		return fmt.Errorf("the fleet in %s did not end by itself", f.Dir)
	}
	for end := time.Now().Add(goneWithin); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		inside = slices.DeleteFunc(inside, func(p Process) bool { return !p.lives() })
		if len(inside) == 0 {
			return nil
		}
	}
	return fmt.Errorf("the fleet in %s has ended without %v", f.Dir, inside)
}

// goneWithin is how long what ends may take to be gone.
const goneWithin = 10 * time.Second
