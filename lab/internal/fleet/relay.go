package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/strict"
)

// A Fleet is all hosts of an inventory while their labs answer, as the host that
// started the run reaches them.
type Fleet struct {
	hosts     []*remote // the server's first
	out, errs io.Writer
	printer   *printer

	mu        sync.Mutex
	collector *collector // nil until all hosts have met
	uncollect error      // the first file that could not be collected
	closing   atomic.Bool
	ran       atomic.Bool // the server's lab was given its clients
	collects  sync.WaitGroup
}

// How long hosts may take: to answer at first, when the server's lab reads the
// whole journal, and to end in good order, when it stops servers and turns knobs
// back.
const (
	answerWithin = 60 * time.Second
	endWithin    = 60 * time.Second
)

// knocks is how many hosts are logged into at once: a bastion's SSH server drops
// connections at random once ten have not logged in yet (MaxStartups).
const knocks = 8

// Reach starts a lab on every host: on the server's with the given arguments, and
// on each client's an agent. Whatever they print for people goes to errs, with
// what belongs to standard output to out. If a host cannot be reached, the error
// has a line for each such host, and nothing is left running.
func Reach(ctx context.Context, inv *Inventory, root journal.Root, server []string, terminal bool, out,
	errs io.Writer) (*Fleet, error) {
	hosts := slices.Clone(inv.Hosts)
	hosts[0].asked.Terminal = terminal
	f := &Fleet{out: out, errs: errs, printer: newPrinter(), hosts: make([]*remote, len(hosts))}
	wrong := make([]error, len(hosts))
	atOnce(knocks, len(hosts), func(i int) {
		if ctx.Err() != nil {
			return
		}
		args, handle := []string{AgentCall}, f.fromClient
		if i == 0 {
			args, handle = server, f.fromServer
		}
		r, err := hosts[i].start(args, func(line string) { f.heard(hosts[i], line) }, handle)
		if err == nil {
			f.mu.Lock()
			f.hosts[i] = r
			f.mu.Unlock()
			stop := context.AfterFunc(ctx, func() { r.conn.fail(errors.New("interrupted")) })
			err = r.greet(answerWithin)
			stop()
		}
		wrong[i] = err
	})
	err := errors.Join(wrong...)
	if ctx.Err() != nil {
		err = errors.New("interrupted before all hosts had answered")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	all := f.hosts
	f.mu.Lock()
	f.collector = &collector{root: root, conn: all[0].conn, check: inv.Check}
	f.mu.Unlock()
	for _, r := range all[1:] {
		go f.mourn(r)
	}
	return f, nil
}

// atOnce calls f with each number below n, for up to so many of them at once.
func atOnce(most, n int, f func(i int)) {
	var all sync.WaitGroup
	places := make(chan struct{}, most)
	for i := range n {
		places <- struct{}{}
		all.Go(func() {
			f(i)
			<-places
		})
	}
	all.Wait()
}

// AgentCall is the lab's call that Agent answers.
const AgentCall = "fleet-client"

// heard passes on a line that a host printed on standard error.
func (f *Fleet) heard(h Host, line string) {
	if f.closing.Load() && !f.ran.Load() {
		return // how a lab ends that this one has no use for explains nothing
	}
	if h.Number > 0 {
		line = fmt.Sprintf("%v: %s", h, line)
	}
	f.printer.print(f.errs, line+"\n")
}

// Say prints a line for people.
func (f *Fleet) Say(format string, args ...any) {
	f.printer.print(f.errs, fmt.Sprintf(format, args...)+"\n")
}

// Hellos are what the hosts say of themselves, the server's first.
func (f *Fleet) Hellos() []Hello {
	return strict.Called(f.hosts, func(r *remote) Hello { return r.hello })
}

// Names are how the hosts are called on the terminal, in the same order.
func (f *Fleet) Names() []string {
	return strict.Called(f.hosts, func(r *remote) string { return r.Host.String() })
}

// mourn tells the server's host that a client is lost.
func (f *Fleet) mourn(r *remote) {
	<-r.conn.open.Done()
	if f.closing.Load() {
		return
	}
	f.hosts[0].conn.send(frame{Kind: kindLost, Client: r.Number, Text: r.kindOfEnd()})
	f.Say("%v is lost: %s", r.Host, r.why())
	_ = r.proc.Stop(r.proc.Pid(), 0) // it may hang
}

// fromClient passes on what a client says of its load.
func (f *Fleet) fromClient(r *remote, from received) error {
	switch from.Kind {
	case kindStarted, kindLine, kindEnded:
		r.mu.Lock()
		given := r.given[from.ID]
		if from.Kind == kindEnded {
			delete(r.given, from.ID)
		}
		r.mu.Unlock()
		if !given {
			return errors.New("it speaks of a load that it was not given")
		}
		from.Client = r.Number
		f.hosts[0].conn.send(from.frame) // all are there once loads are given
		return nil
	}
	return fmt.Errorf("a client sends no %s", from.Kind)
}

// fromServer does what the lab on the server's host asks for.
func (f *Fleet) fromServer(r *remote, from received) error {
	if from.Kind == kindPrint {
		to := f.out
		if from.ID == toErrs {
			to = f.errs
		}
		f.printer.print(to, from.Text)
		return nil
	}
	f.mu.Lock()
	hosts, collector := f.hosts, f.collector
	f.mu.Unlock()
	if collector == nil {
		return fmt.Errorf("it sends a %s before all hosts have met", from.Kind)
	}
	switch from.Kind {
	case kindClocks:
		go func() {
			clocks, lost, err := f.Clocks()
			answer := frame{Kind: kindClocks, ID: from.ID, Clocks: clocks, Client: lost}
			if lost > 0 {
				answer.Text = "it ended while its clock was measured"
			} else if err != nil {
				answer.Text = "the server's own clock could not be measured"
			}
			r.conn.send(answer)
		}()
	case kindLoad, kindRelease, kindStop:
		if from.Client < 1 || from.Client >= len(hosts) {
			return fmt.Errorf("there is no client %d", from.Client)
		}
		to := hosts[from.Client]
		if from.Kind == kindLoad {
			to.mu.Lock()
			to.given[from.ID] = true
			to.mu.Unlock()
		}
		to.conn.send(from.frame)
	case kindKept:
		f.collects.Go(func() {
			if err := collector.collect(from.frame); err != nil {
				f.mu.Lock()
				f.uncollect = cmp.Or(f.uncollect, err)
				f.mu.Unlock()
			}
		})
	case kindData: // too late for whoever asked
	default:
		return fmt.Errorf("the server's host sends no %s", from.Kind)
	}
	return nil
}

// mostAtOnce is how many clocks are measured at once. A question costs this host some
// microseconds, and the least of many round trips counts, so they hardly meet.
const mostAtOnce = 16

// Clocks measures the clocks of all clients against that of the server's host. On
// failure lost is the host that did not answer.
func (f *Fleet) Clocks() (clocks []Clock, lost int, err error) {
	readings, known, wrong := make([]reading, len(f.hosts)), make([]*float64, len(f.hosts)), make([]error, len(f.hosts))
	atOnce(mostAtOnce, len(f.hosts), func(i int) { readings[i], known[i], wrong[i] = f.hosts[i].clock() })
	for i, err := range wrong {
		if err != nil {
			return nil, i, fmt.Errorf("%v: its clock: %w", f.hosts[i].Host, err)
		}
	}
	for i := range f.hosts[1:] {
		clocks = append(clocks, between(readings[0], readings[i+1], known[0], known[i+1]))
	}
	return clocks, 0, nil
}

// Differences says in a line for each host what makes its figures those of another
// lab than that of the server's host.
func (f *Fleet) Differences() []string {
	all := f.Hellos()
	var out []string
	for i, h := range all {
		if what := h.differs(all[0]); what != "" {
			out = append(out, fmt.Sprintf("%v: %s; %s", f.hosts[i].Host, what, prepare))
		}
	}
	return out
}

// differs says what of a host's lab is not as on the server's host; empty if all
// is.
func (h Hello) differs(server Hello) string {
	short := func(commit string) string { return commit[:min(len(commit), 12)] }
	var what []string
	if h.Commit != server.Commit {
		what = append(what, fmt.Sprintf("its lab is at commit %s, and that of the server's host at %s", short(h.Commit),
			short(server.Commit)))
	} else if h.Dirty != server.Dirty {
		what = append(what, map[bool]string{true: "its checkout differs from its commit, and that of the server's host " +
			"does not", false: "its checkout does not differ from its commit, and that of the server's host does"}[h.Dirty])
	}
	for _, name := range []string{"lab", "http_load"} {
		a, b := h.Binaries[name], server.Binaries[name]
		switch {
		case a.SHA256 == "":
			what = append(what, name+" is missing")
		case b.SHA256 != "" && a.SHA256 != b.SHA256:
			what = append(what, fmt.Sprintf("its %s is another build (SHA-256 %.12s, and %.12s on the server's host)", name,
				a.SHA256, b.SHA256))
		}
	}
	return strings.Join(what, ", ")
}

// Run has the server's host measure with the clients, and collects what it keeps,
// until its lab ends, and gives that lab's exit status. If the context ends, the lab there is asked to
// end in good order.
func (f *Fleet) Run(ctx context.Context) (status int, err error) {
	f.ran.Store(true)
	server := f.hosts[0]
	server.conn.send(frame{Kind: kindClients, Hellos: f.Hellos()[1:]})
	stop := context.AfterFunc(ctx, func() {
		server.conn.send(frame{Kind: kindEnd})
		time.AfterFunc(endWithin, func() { server.conn.fail(fmt.Errorf("it did not end within %v", endWithin)) })
	})
	defer stop()
	code := -1
	if errors.Is(server.conn.reason(), errClosed) {
		select {
		case <-server.proc.Done():
			code = server.proc.ExitCode()
		case <-time.After(endWithin):
		}
	}
	f.collects.Wait()
	f.mu.Lock()
	uncollected := f.uncollect
	f.mu.Unlock()
	switch {
	case code < 0 || code == sshFailed && !server.Local:
		return 0, fmt.Errorf("%v is lost: %s; its complete blocks are there, and lab fleet collect fetches them", server.Host,
			server.why())
	case uncollected != nil:
		return 0, fmt.Errorf("%w; what was not collected stays on the server's host, and lab fleet collect fetches it",
			uncollected)
	}
	return code, nil
}

// Collected are the files that were added here, by their paths from the root.
func (f *Fleet) Collected() []string { return f.collector.added }

// Close ends what runs on the hosts, and prints what is left to print.
func (f *Fleet) Close() {
	f.closing.Store(true)
	atOnce(len(f.hosts), len(f.hosts), func(i int) {
		switch {
		case f.hosts[i] == nil:
		case i == 0:
			f.hosts[i].end(endWithin)
		default:
			f.hosts[i].end(goneWithin)
		}
	})
	f.printer.flush()
}
