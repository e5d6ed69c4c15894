package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// outliving has a lab outlive the host that started it for long enough to end in good
// order: writing to a connection that is gone would kill it.
func outliving() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// served begins to talk to the host that started a run, if this is the server's host of
// a fleet. The context that it returns ends with that host.
func (f fleetFlags) served(ctx context.Context, o *options) (context.Context, func()) {
	if !f.ClientsOnStdio {
		return ctx, func() {}
	}
	outliving()
	o.server, ctx = fleet.Serve(ctx, os.Stdin, os.Stdout)
	return ctx, o.server.Close
}

// meet has this host and the clients say who they are. What is printed then goes to the
// host that started the run.
func (b *bench) meet(ctx context.Context, out io.Writer) (io.Writer, error) {
	if b.server == nil {
		return out, nil
	}
	asked, err := b.server.Asked(ctx)
	if err != nil {
		return out, err
	}
	allowed, err := allowedCPUs()
	if err != nil {
		return out, err
	}
	own, err := fleet.Owner{Root: string(b.j.Root), Self: b.self, Profile: *b.profile, Allowed: allowed}.Say(asked)
	if err != nil {
		return out, err
	}
	if err := b.server.Meet(ctx, &own); err != nil {
		return out, err
	}
	b.address = asked.Address
	b.report.out, b.report.terminal = b.server.Errs(), asked.Terminal
	for i, h := range b.server.Hellos()[1:] {
		known, err := b.client(h)
		if err != nil {
			return out, fmt.Errorf("client %d: %w", i+1, err)
		}
		b.clients = append(b.clients, known)
	}
	return b.server.Out(), nil
}

// client is a client's profile as the journal has it, or will have it.
func (b *bench) client(h fleet.Hello) (*host.Profile, error) {
	if known := b.j.Hosts[h.Profile.ID]; known != nil {
		if !known.Same(h.Profile) {
			return nil, fmt.Errorf("%s describes another machine; give the client another name in its .lab-host", b.j.Root.Rel(b.j.Root.Host(known.ID)))
		}
		return known, nil
	}
	text, err := results.Encode(h.Profile)
	if err == nil {
		err = results.Decode(text, results.HostSchemaURL, new(host.Profile))
	}
	if err != nil {
		return nil, fmt.Errorf("its profile: %w", err)
	}
	return &h.Profile, nil
}

// opens refuses an experiment whose clients would open more files than they may. Each
// that loads has an equal part of the connections.
func opens(x *experiment.Experiment, clients []fleet.Hello) error {
	for _, levels := range x.Conditions() {
		s := x.Fixed().With(levels)
		loads, ok := s[setting.Clients].Int()
		if !ok {
			loads = int64(len(clients))
		}
		connections, _ := s[setting.Connections].Int()
		for i := range min(loads, int64(len(clients))) {
			if needs := (connections+loads-1)/loads + run.FilesBeside; clients[i].Files < uint64(needs) {
				return fmt.Errorf("client %d needs %d open files, and its hard limit is %d; raise it there (ulimit -Hn, or nofile in limits.conf)", i+1, needs, clients[i].Files)
			}
		}
	}
	return nil
}

// on are the hosts whose blocks count together with those that this call makes.
func (b *bench) on() results.Hosts {
	own := b.profile.ID
	if b.server == nil {
		return results.Hosts{Server: own, Client: own}
	}
	on := run.FleetOf(own, b.server.Hellos())
	on.Client = on.Clients[0]
	return on
}

// adopt adds runs that were cut short here, and offers those of a fleet.
func (b *bench) adopt(ctx context.Context) error {
	added, err := adopt(b.j, "", b.report.Say)
	for _, f := range added {
		b.offer(ctx, b.j.Root, f)
	}
	return err
}

// offer has the host that started the run collect one that was kept here.
func (b *bench) offer(ctx context.Context, into journal.Root, f *results.File) {
	if b.server == nil || f == nil || !f.OnFleet() {
		return
	}
	if err := b.server.Keep(ctx, into, b.Scratch, filesOf(into, f)); err != nil && !errors.Is(err, fleet.ErrNotTaken) {
		b.report.Say("%s: not collected (%v); lab fleet collect fetches it", f.Run, err)
	}
}

// filesOf are the files of a run that are not derived, the results file last, since it
// names the others.
func filesOf(root journal.Root, f *results.File) []string {
	var all []string
	for _, id := range append([]string{f.Hosts.Server}, f.Hosts.Clients...) {
		all = append(all, root.Host(id))
	}
	all = append(all, root.Design(f.Provenance.ExperimentSHA256))
	for _, c := range f.Conditions {
		for _, p := range c.Profiles {
			all = append(all, root.Profile(p.File))
		}
	}
	slices.Sort(all)
	return append(slices.Compact(all), root.Result(f.Experiment, f.Run))
}

// why names the end of the host that started a run, where that is why the run ended.
func why(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if gone, ok := errors.AsType[fleet.Gone](cause); ok && err != nil {
		return fmt.Errorf("%v: %w", gone, err)
	}
	return err
}

// filesCall is the lab's call that gives files to lab fleet collect.
const filesCall = "fleet-files"

// A filesOfFleet gives the runs of a fleet that lie on its server's host to the host
// that collects them.
type filesOfFleet struct{}

func (filesOfFleet) do(ctx context.Context, _ io.Writer) (int, error) {
	outliving()
	s, ctx := fleet.Serve(ctx, os.Stdin, os.Stdout)
	defer s.Close()
	if _, err := s.Asked(ctx); err != nil {
		return exitFailed, err
	}
	j, err := open()
	if err != nil {
		return exitFailed, err
	}
	// Runs that were cut short are added first, unless one still goes on.
	if release, err := takeLock(j.Root.Scratch()); err == nil {
		_, err = adopt(j, "", func(string, ...any) {})
		release()
		if err != nil {
			return exitFailed, err
		}
	}
	if err := s.Meet(ctx, nil); err != nil {
		return exitFailed, err
	}
	for _, f := range ofFleet(j) {
		if err := s.Keep(ctx, j.Root, false, filesOf(j.Root, f)); err != nil {
			return exitFailed, err
		}
	}
	return exitHeld, nil
}

// ofFleet are the runs with a fleet's clients that git does not track in this clone.
func ofFleet(j *archive.Journal) []*results.File {
	known, _ := tracked(j.Root)
	return slices.DeleteFunc(slices.Clone(j.Runs), func(f *results.File) bool {
		return !f.OnFleet() || known[j.Root.Result(f.Experiment, f.Run)]
	})
}

// An agentCall answers for a client's host.
type agentCall struct{}

func (agentCall) do(ctx context.Context, _ io.Writer) (int, error) {
	outliving()
	root, err := journal.Find(".")
	if err != nil {
		return exitFailed, err
	}
	self, err := os.Executable()
	if err != nil {
		return exitFailed, err
	}
	allowed, err := allowedCPUs()
	if err != nil {
		return exitFailed, err
	}
	// Of the journal only this host's own profile is needed.
	j := &archive.Journal{Root: root, Hosts: map[string]*host.Profile{}}
	w, err := here(j, "/", "")
	if err != nil {
		return exitFailed, err
	}
	if known, err := results.ReadHost(root.Host(w.ID)); err == nil {
		j.Hosts[w.ID] = known
	}
	say := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	profile, err := options{}.profile(j, "/", say)
	if err != nil {
		return exitFailed, err
	}
	whole, err := filepath.EvalSymlinks(string(root))
	if err != nil {
		return exitFailed, err
	}
	o := fleet.Owner{Root: whole, Self: self, Profile: *profile, Allowed: allowed}
	if err := fleet.Agent(ctx, o, os.Stdin, os.Stdout); err != nil {
		return exitFailed, err
	}
	return exitHeld, nil
}
