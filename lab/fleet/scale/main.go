// Command scale measures what a fleet costs the host that controls it, and prints it
// as JSON: for fleets of 1, 2, 4, 8 and 16 clients in namespaces of this machine, what
// it takes the controller to reach all hosts, to measure their clocks and to drive a
// short run.
//
// The controller's CPU time is counted apart from that of the hosts, so it is what a
// controller of its own would need. The wall time is not: here all hosts share this
// machine's cores, so with many clients it is that of an overloaded machine.
//
//	make -s bench-fleet >data/examples/fleet-scale.json   # after make build sshd ansible
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/fleet/local"
)

// A Report is what is printed.
type Report struct {
	About  string `json:"about"`
	Date   string `json:"date"`
	CPUs   int    `json:"cpus"`   // of the machine that all hosts of the fleets shared
	Fleets []Cost `json:"fleets"` // in the order of their sizes
}

// A Cost is what one fleet cost its controller.
type Cost struct {
	Clients int     `json:"clients"`
	SSH     Spent   `json:"ssh"`     // ssh to server and clients at once, each to run nothing
	Hosts   Spent   `json:"hosts"`   // lab fleet hosts: reach each, what it is, its clock
	Ansible Spent   `json:"ansible"` // ansible all -m ping, with a fork for each host
	Run     Spent   `json:"run"`     // a run of one block
	Load    float64 `json:"load_s"`  // time under load in that run
}

// Spent is time in seconds.
type Spent struct {
	CPU  float64 `json:"cpu_s"` // of all processes on the controller
	Wall float64 `json:"wall_s"`
}

// design is of one block: two conditions and an A/A control, a second under load each.
const design = `entry = "99"
title = "What a fleet costs its controller"
question = "What does a fleet cost its controller?"
metrics = ["throughput_rps"]
budget_s = 3600
[topology]
kind = "fleet"
[settings]
route = "/simple"
prefork = true
index = "pool"
workers = 1
generator = "http_load"
pipelining = 1
client_workers = 0
[[factors]]
name = "connections"
levels = [32, 64]
[block]
slot_s = 1
rounds = 1
warmup_s = 0.1
[[claims]]
id = "sockets"
kind = "count"
text = "Workers are counted."
why = "Made up."
metric = "workers"
equals = "workers"
`

func main() {
	sizes := flag.String("clients", "1,2,4,8,16", "numbers of clients")
	repeats := flag.Int("repeats", 3, "how often each is measured; the median counts")
	flag.Parse()
	if err := measure(*sizes, *repeats); err != nil {
		fmt.Fprintf(os.Stderr, "scale: %v\n", err)
		os.Exit(1)
	}
}

func measure(sizes string, repeats int) error {
	top, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	r := Report{
		About: "What fleets of namespaces on one machine cost their controller; by make bench-fleet",
		Date:  time.Now().UTC().Format(time.DateOnly), CPUs: runtime.NumCPU(),
	}
	for text := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 32 || repeats < 1 {
			return fmt.Errorf("%q: numbers of clients go from 1 to 32, and repeats from 1", text)
		}
		c, err := cost(top, n, repeats)
		if err != nil {
			return fmt.Errorf("%d clients: %w", n, err)
		}
		fmt.Fprintf(os.Stderr, "%d clients: %+v\n", n, c)
		r.Fleets = append(r.Fleets, c)
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	return out.Encode(r)
}

// cost measures one fleet, which is gone again when it returns.
func cost(top string, clients, repeats int) (c Cost, err error) {
	dir, err := os.MkdirTemp("", "fleet-")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(dir)
	f, err := local.Up(top, dir, "--clients", strconv.Itoa(clients))
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, f.Down()) }()
	if err := f.Checkouts(top, map[string]string{"lab/experiments/99-scale.toml": design}); err != nil {
		return c, err
	}
	c = Cost{Clients: clients, Load: 3} // two conditions and the A/A control
	// xargs starts one ssh for each host, and waits for all.
	ssh := fmt.Sprintf(`awk '/ansible_host/ { print $2 }' %[1]s/inventory.yml | xargs -P 0 -I{} ssh -n -o BatchMode=yes -o UserKnownHostsFile=%[1]s/known_hosts -i %[1]s/key -p "$(sed -n 's/.*ansible_port: //p' %[1]s/inventory.yml)" "$(sed -n 's/.*ansible_user: //p' %[1]s/inventory.yml)"@{} true`, dir)
	for _, one := range []struct {
		into *Spent
		argv []string
	}{
		{&c.SSH, []string{"bash", "-c", ssh}},
		{&c.Hosts, []string{".tools/bin/lab", "fleet", "hosts", "--inventory", f.Inventory()}},
		{&c.Ansible, []string{".tools/ansible/bin/ansible", "all", "-i", f.Inventory(), "-m", "ping", "-f", strconv.Itoa(clients + 1)}},
		{&c.Run, []string{".tools/bin/lab", "run", "--topology", "fleet", "--inventory", f.Inventory(), "--blocks", "1", "99-scale"}},
	} {
		if *one.into, err = spend(f, one.argv, repeats); err != nil {
			return c, err
		}
	}
	return c, nil
}

// notHeld is the lab's status for a run that went through and decided nothing.
const notHeld = 2

// spend runs a command on the controller so many times, and gives the medians.
func spend(f *local.Fleet, argv []string, repeats int) (Spent, error) {
	var cpu, wall []float64
	for range repeats {
		cmd := f.On("controller", argv...)
		cmd.Dir = f.Root("controller")
		began := time.Now()
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > notHeld || argv[1] != "run") {
			return Spent{}, fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, out)
		}
		wall = append(wall, time.Since(began).Seconds())
		cpu = append(cpu, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
	}
	return Spent{middle(cpu), middle(wall)}, nil
}

func middle(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
