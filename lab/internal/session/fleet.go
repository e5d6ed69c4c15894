package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/line-rate/line-rate/lab/internal/archive"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/setting"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// ConnectClients has this host and the clients of a fleet say who they are. What is printed
// then goes to the host that started the run, which the returned writer does.
func (s *Session) ConnectClients(ctx context.Context, out io.Writer) (io.Writer, error) {
	if s.Server == nil {
		return out, nil
	}
	asked, err := s.Server.Asked(ctx)
	if err != nil {
		return out, err
	}
	allowed, err := AllowedCPUs()
	if err != nil {
		return out, err
	}
	own, err := fleet.Owner{Root: string(s.j.Root), Self: s.self, Profile: *s.profile, Allowed: allowed}.Say(asked)
	if err != nil {
		return out, err
	}
	if err := s.Server.Meet(ctx, &own); err != nil {
		return out, err
	}
	s.address = asked.Address
	s.Out, s.Terminal = s.Server.Errs(), asked.Terminal
	for i, h := range s.Server.Hellos()[1:] {
		known, err := s.client(h)
		if err != nil {
			return out, fmt.Errorf("client %d: %w", i+1, err)
		}
		s.clients = append(s.clients, known)
	}
	return s.Server.Out(), nil
}

// client is a client's profile as the journal has it, or will have it.
func (s *Session) client(h fleet.Hello) (*host.Profile, error) {
	if known := s.j.Hosts[h.Profile.ID]; known != nil {
		if !known.Same(h.Profile) {
			return nil, fmt.Errorf("%s describes another machine; give the client another name in its .lab-host",
				s.j.Root.Rel(s.j.Root.Host(known.ID)))
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

// checkFileLimits refuses an experiment whose clients would open more files than they may.
// Each that loads has an equal part of the connections.
func checkFileLimits(x *experiment.Experiment, clients []fleet.Hello) error {
	for _, levels := range x.Conditions() {
		of := x.Fixed().With(levels)
		loads, connections := results.Loading(of, len(clients)), of.Whole(setting.Connections, 0)
		for i := range min(loads, len(clients)) {
			if needs := (connections+loads-1)/loads + experiment.FilesBeside; clients[i].Files < uint64(needs) {
				return fmt.Errorf("client %d needs %d open files, and its hard limit is %d; raise it there (ulimit -Hn, or "+
					"nofile in limits.conf)", i+1, needs, clients[i].Files)
			}
		}
	}
	return nil
}

// hosts are those whose blocks count together with the blocks of this session.
func (s *Session) hosts() results.Hosts {
	own := s.profile.ID
	if s.Server == nil {
		return results.Hosts{Server: own, Client: own}
	}
	return run.FleetOf(own, s.Server.Hellos())
}

// adopt adds runs that were cut short here, and offers those of a fleet.
func (s *Session) adopt(ctx context.Context) error {
	added, err := Adopt(s.j, "", s.Say)
	for _, f := range added {
		s.offer(ctx, s.j.Root, f)
	}
	return err
}

// offer has the host that started the run collect one that was kept here.
func (s *Session) offer(ctx context.Context, from journal.Root, f *results.File) {
	if s.Server == nil || f == nil || !f.OnFleet() {
		return
	}
	if err := s.Server.Keep(ctx, from, s.Trial, filesOf(from, f)); err != nil && !errors.Is(err, fleet.ErrNotTaken) {
		s.Say("%s: not collected (%v); lab fleet collect fetches it", f.Run, err)
	}
}

// OfferAll gives the host that collects them the runs with a fleet's clients that lie here
// and that git does not track. Runs that were cut short are among them, unless one still
// goes on.
func OfferAll(ctx context.Context, j *archive.Journal, to *fleet.Server) error {
	if release, err := Lock(j.Root.Scratch()); err == nil {
		_, err = Adopt(j, "", func(string, ...any) {})
		release()
		if err != nil {
			return err
		}
	}
	if err := to.Meet(ctx, nil); err != nil {
		return err
	}
	known, _ := tracked(j.Root)
	for _, f := range j.Runs {
		if !f.OnFleet() || known[j.Root.Result(f.Experiment, f.Run)] {
			continue
		}
		if err := to.Keep(ctx, j.Root, false, filesOf(j.Root, f)); err != nil {
			return err
		}
	}
	return nil
}

// filesOf are the files of a run that are not derived, the results file last, since it
// names the others.
func filesOf(root journal.Root, f *results.File) []string {
	all := strict.Called(append([]string{f.Hosts.Server}, f.Hosts.Clients...), root.Host)
	all = append(all, root.Design(f.Provenance.ExperimentSHA256))
	for _, c := range f.Conditions {
		for _, p := range c.Profiles {
			all = append(all, root.Profile(p.File))
		}
	}
	slices.Sort(all)
	return append(slices.Compact(all), root.Result(f.Experiment, f.Run))
}

// Owner describes this host as one of a fleet's clients.
func Owner(root journal.Root, say func(format string, args ...any)) (o fleet.Owner, err error) {
	if o.Self, err = os.Executable(); err != nil {
		return o, err
	}
	if o.Allowed, err = AllowedCPUs(); err != nil {
		return o, err
	}
	// Of the journal only this host's own profile is needed.
	j := &archive.Journal{Root: root, Hosts: map[string]*host.Profile{}}
	m, err := Identify(j, "/", "")
	if err != nil {
		return o, err
	}
	if known, err := results.ReadHost(root.Host(m.ID)); err == nil {
		j.Hosts[m.ID] = known
	}
	profile, err := Profile(j, "/", "", say)
	if err != nil {
		return o, err
	}
	o.Profile = *profile
	o.Root, err = filepath.EvalSymlinks(string(root))
	return o, err
}
