package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/cores"
	"github.com/line-rate/line-rate/lab/internal/fleet"
	"github.com/line-rate/line-rate/lab/internal/gate"
	"github.com/line-rate/line-rate/lab/internal/host"
	"github.com/line-rate/line-rate/lab/internal/journal"
	"github.com/line-rate/line-rate/lab/internal/results"
	"github.com/line-rate/line-rate/lab/internal/run"
	"github.com/line-rate/line-rate/lab/internal/session"
	"github.com/line-rate/line-rate/lab/internal/terminal"
)

// fleetFlags are those with which a run is made on other hosts.
type fleetFlags struct {
	Topology  string `placeholder:"fleet" enum:",fleet" default:"" help:"fleet: on the hosts of an inventory, servers on one and clients on the others, over SSH."`
	Inventory string `placeholder:"FILE" help:"Ansible inventory with the groups server and clients (default: lab/fleet/inventory.yml)."`

	// Of the call by which the lab starts itself on the server's host.
	ClientsOnStdio bool `hidden:""`
}

// remote reports whether this call is to be carried out on a fleet's hosts.
func (f fleetFlags) remote() (bool, error) {
	switch {
	case f.ClientsOnStdio && f.Topology != "":
		return false, errors.New("--clients-on-stdio is what the lab calls itself with on the server's host; leave it out")
	case f.Topology == "" && f.Inventory != "" && !f.ClientsOnStdio:
		return false, errors.New("--inventory is of a fleet; add --topology fleet")
	}
	return f.Topology == "fleet", nil
}

// words are the flags as the lab on the server's host is given them.
func (o options) words() []string {
	return given(nil, "port", o.Port, "budget", o.Budget, "seed", o.Seed, "host", o.Host, "clients-on-stdio", true)
}

// given adds flags to a call, by their names and values, but for those that were left out.
func given(call []string, flags ...any) []string {
	for flag := range slices.Chunk(flags, 2) {
		name, value := fmt.Sprintf("--%v", flag[0]), reflect.ValueOf(flag[1])
		switch {
		case value.IsZero():
		case value.Kind() == reflect.Bool:
			call = append(call, name)
		default:
			call = append(call, name, fmt.Sprint(flag[1]))
		}
	}
	return call
}

// runRemote has the lab on the server's host carry out a call, relays between it and the
// clients, and collects what it keeps.
func (f fleetFlags) runRemote(ctx context.Context, call []string, o options, trial bool, out io.Writer) (int, error) {
	all, err := f.reach(ctx, append(call, o.words()...), out)
	if err != nil {
		return exitFailed, err
	}
	defer all.Close()
	if differ := all.Differences(); len(differ) > 0 {
		return exitFailed, errors.New(strings.Join(differ, "\n"))
	}
	if err := checkSettings(all); err != nil {
		if !trial {
			return exitFailed, err
		}
		all.Say("warning: %v", err)
	}
	if clocks, err := clocksOf(all); err != nil {
		return exitFailed, err
	} else if err := checkClocks(all.Names(), clocks); err != nil {
		return exitFailed, err
	}
	for i, h := range all.Hellos() {
		if h.Note != "" {
			all.Say("warning: %s: %s", all.Names()[i], h.Note)
		}
	}
	if root, err := journal.Find("."); err == nil {
		own, differ := host.Differ(string(root))
		switch there := all.Hellos()[0].Commit; {
		case own == host.UnknownCommit:
		case own != there:
			all.Say("warning: this checkout is at commit %.12s, and the fleet's at %.12s, whose experiments and lab are used",
				own, there)
		case len(differ) > 0 && !all.Hellos()[0].Dirty:
			all.Say("warning: %s is not as committed here%s; the fleet has the commit, whose experiments and lab are used",
				differ[0], session.AndMore(len(differ)-1))
		}
	}
	return all.Run(ctx)
}

// reach has the labs of all hosts answer.
func (f fleetFlags) reach(ctx context.Context, server []string, out io.Writer) (*fleet.Fleet, error) {
	root, err := journal.Find(".")
	if err != nil {
		return nil, err
	}
	path := cmp.Or(f.Inventory, root.Inventory())
	if _, err := os.Stat(path); f.Inventory == "" && err != nil {
		return nil, fmt.Errorf("there is no %s; write one, as the page on fleets has it, or name one with --inventory",
			root.Rel(path))
	}
	inv, err := fleet.ReadInventory(ctx, string(root), path)
	if err != nil {
		return nil, err
	}
	words := inv.Words()
	inv.Check = func(path string, text []byte) error {
		if !strings.HasPrefix(path, "data/results/") {
			return nil
		}
		var f results.File
		if err := results.Decode(text, results.SchemaURL, &f); err != nil {
			return err
		}
		return run.Private(&f, words...)
	}
	if server[0] == filesCall {
		inv.Hosts = inv.Hosts[:1] // the clients are not needed
	}
	return fleet.Reach(ctx, inv, root, server, terminal.Is(os.Stderr), out, os.Stderr)
}

// A fleetCall is about a fleet's hosts.
type fleetCall struct {
	Hosts   hostsCall   `cmd:"" help:"Reach every host of a fleet, and say what it is, how far its clock is off, and in what its lab differs."`
	Collect collectCall `cmd:"" help:"Fetch the runs that the server's host of a fleet has kept, as after the controller was killed."`
}

// ofInventory names a fleet.
type ofInventory struct {
	Inventory string `placeholder:"FILE" help:"Ansible inventory (default: lab/fleet/inventory.yml)."`
}

type hostsCall struct{ ofInventory }

func (c hostsCall) do(ctx context.Context, out io.Writer) (int, error) {
	f, err := fleetFlags{Inventory: c.Inventory}.reach(ctx, []string{fleet.AgentCall}, out)
	if err != nil {
		return exitFailed, err
	}
	defer f.Close()
	clocks, err := clocksOf(f)
	if err != nil {
		return exitFailed, err
	}
	names := f.Names()
	for i, h := range f.Hellos() {
		parts := []string{h.Profile.Name, "CPUs " + cores.Format(h.CPUs), linkOf(h), "files " +
			strconv.FormatUint(h.Files, 10), "lab " + h.Commit[:min(len(h.Commit), 12)]}
		if i > 0 {
			parts = append(parts, clockOf(clocks[i-1]))
		}
		if h.Note != "" {
			parts = append(parts, h.Note)
		}
		fmt.Fprintf(out, "%s: %s\n", names[i], strings.Join(parts, "; "))
	}
	if differ := f.Differences(); len(differ) > 0 {
		return exitFailed, errors.New(strings.Join(differ, "\n"))
	}
	return exitHeld, errors.Join(checkSettings(f), checkClocks(f.Names(), clocks))
}

// clocksOf measures the clocks of a fleet's clients, and once more where one would be
// too unsure: something else may have held its answers up.
func clocksOf(on *fleet.Fleet) (clocks []fleet.Clock, err error) {
	for range 2 {
		if clocks, _, err = on.Clocks(); err != nil || checkClocks(on.Names(), clocks) == nil {
			break
		}
	}
	return clocks, err
}

// checkClocks is an error with a line for each client whose clock is known too coarsely for
// any trial to be valid.
func checkClocks(names []string, clocks []fleet.Clock) error {
	var unsure []error
	for i, c := range clocks {
		if c.UncertaintyS > gate.ClockUnsure.Seconds() {
			unsure = append(unsure, fmt.Errorf("%s: its clock is known to %.2g ms only, and every trial would be invalid "+
				"from %v on (gate %s); have chrony keep it and the server's, or start the run nearer to the hosts, "+
				"as on the server's (ansible_connection: local)",
				names[i+1], 1e3*c.UncertaintyS, gate.ClockUnsure, gate.ClocksUnsure))
		}
	}
	return errors.Join(unsure...)
}

// checkSettings is an error with a line for each setting that is turned on a fleet's hosts.
func checkSettings(on *fleet.Fleet) error {
	var turned []error
	for i, h := range on.Hellos() {
		for _, l := range h.Left {
			turned = append(turned, fmt.Errorf("%s: %s; make fleet-restore turns it back", on.Names()[i], l))
		}
	}
	return errors.Join(turned...)
}

func linkOf(h fleet.Hello) string {
	rate := "of unknown rate"
	if h.LineRate > 0 {
		rate = "of " + strconv.FormatFloat(h.LineRate/1e6, 'f', -1, 64) + " Mbit/s"
	}
	return fmt.Sprintf("interface %s %s", cmp.Or(h.Device, "unknown"), rate)
}

func clockOf(c fleet.Clock) string {
	text := fmt.Sprintf("clock %+.3g ms, give or take %.2g ms, by %s", 1e3*c.OffsetS, 1e3*c.UncertaintyS, c.Method)
	if c.Note != "" {
		text += " (" + c.Note + ")"
	}
	return text
}

type collectCall struct{ ofInventory }

func (c collectCall) do(ctx context.Context, out io.Writer) (int, error) {
	f, err := fleetFlags{Inventory: c.Inventory}.reach(ctx, []string{filesCall}, out)
	if err != nil {
		return exitFailed, err
	}
	status, err := f.Run(ctx)
	f.Close()
	for _, path := range f.Collected() {
		fmt.Fprintf(out, "collected %s\n", path)
	}
	if len(f.Collected()) == 0 && err == nil && status == exitHeld {
		fmt.Fprintln(out, "nothing to collect: all runs of the server's host are here")
	}
	return status, err
}
