package fleet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// An Inventory has the hosts of a fleet, the server's first.
type Inventory struct {
	Hosts []Host
	// Check, if not nil, refuses a file by its path and text before it is written
	// into this checkout.
	Check func(path string, text []byte) error
}

// Words are the names and addresses of all hosts, which no results file tells.
func (inv *Inventory) Words() (words []string) {
	for _, h := range inv.Hosts {
		words = append(words, h.Name, h.Address, h.asked.Address)
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// A Host is one as the inventory has it. Its name and all that leads to it stay on
// the host that started the run.
type Host struct {
	Number  int // 0: the server's; clients count from 1
	Name    string
	Address string // that SSH connects to
	Port    string
	User    string
	Key     string
	Args    []string // further ones of ssh
	Local   bool     // commands start here, without SSH
	Dir     string   // checkout
	asked   Asked
}

// String names a host for the terminal of the host that started the run.
func (h Host) String() string {
	if h.Number == 0 {
		return "the server's host " + h.Name
	}
	return fmt.Sprintf("client %d, %s", h.Number, h.Name)
}

// The variables of the lab's own, and what they mean.
const (
	varDir      = "line_rate_dir"     // checkout on that host
	varAddress  = "line_rate_address" // of the server: where clients reach it
	varDevice   = "line_rate_device"  // interface that the load goes over
	varCPUs     = "line_rate_cpus"    // that load, or servers, may use
	varLineRate = "line_rate_bps"     // of the interface
	ours        = "line_rate_"
)

var variables = []string{varAddress, varLineRate, varCPUs, varDevice, varDir}

// defaultDir is where the checkout is unless the inventory says otherwise.
const defaultDir = "~/line-rate"

// ReadInventory has ansible-inventory read an inventory, of whatever form.
func ReadInventory(ctx context.Context, root, path string) (*Inventory, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("the inventory: %w", err)
	}
	program := filepath.Join(root, ".tools", "ansible", "bin", "ansible-inventory")
	if _, err := os.Stat(program); err != nil {
		if program, err = exec.LookPath("ansible-inventory"); err != nil {
			return nil, errors.New("ansible-inventory, which reads inventories, is not installed; run make ansible")
		}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var errs bytes.Buffer
	list := exec.CommandContext(ctx, program, "-i", path, "--list")
	list.Stderr, list.WaitDelay = &errs, time.Second
	list.Env = append(os.Environ(), "ANSIBLE_DEPRECATION_WARNINGS=False", "ANSIBLE_NOCOLOR=1",
		"ANSIBLE_INVENTORY_UNPARSED_FAILED=True")
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: ansible-inventory cannot read it: %s", path, lastLine(errs.String(), err))
	}
	inv, err := parseInventory(out)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return inv, nil
}

// lastLine is the last line of what a command printed, or else how it ended.
func lastLine(text string, err error) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	if last := strict.Line(all[len(all)-1], 300); last != "" {
		return last
	}
	return err.Error()
}

// A group is one as ansible-inventory lists it.
type group struct {
	Hosts    []string `json:"hosts"`
	Children []string `json:"children"`
}

// parseInventory reads what ansible-inventory --list prints.
func parseInventory(text []byte) (*Inventory, error) {
	var all map[string]json.RawMessage
	if err := strict.CheckJSON(text); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	var meta struct {
		Hostvars map[string]map[string]any `json:"hostvars"`
	}
	if raw, ok := all["_meta"]; ok {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&meta); err != nil {
			return nil, err
		}
	}
	groups := map[string]group{}
	for name, raw := range all {
		var g group
		if name != "_meta" && json.Unmarshal(raw, &g) == nil {
			groups[name] = g
		}
	}
	servers, clients := members(groups, "server", nil), members(groups, "clients", nil)
	switch {
	case len(servers) != 1:
		return nil, fmt.Errorf("group server has %d hosts; it needs exactly one", len(servers))
	case len(clients) == 0:
		return nil, errors.New("group clients has no hosts; it needs one at least")
	case len(clients) > mostClients:
		return nil, fmt.Errorf("group clients has %d hosts; the most are %d", len(clients), mostClients)
	case slices.Contains(clients, servers[0]):
		return nil, fmt.Errorf("%s is in both groups, server and clients", servers[0])
	}
	inv := &Inventory{}
	for i, name := range append(servers, clients...) {
		h, err := readHost(i, name, meta.Hostvars[name])
		if err != nil {
			return nil, fmt.Errorf("host %s: %w", name, err)
		}
		inv.Hosts = append(inv.Hosts, h)
	}
	server := &inv.Hosts[0]
	server.asked.Server, server.asked.Clients = true, len(clients)
	reached := cmp.Or(server.asked.Address, server.Address)
	for i := range inv.Hosts {
		inv.Hosts[i].asked.Address = reached
	}
	return inv, nil
}

// members lists the hosts of a group and of the groups in it, each once.
func members(groups map[string]group, name string, over []string) []string {
	if slices.Contains(over, name) {
		return nil
	}
	all := slices.Clone(groups[name].Hosts)
	for _, child := range groups[name].Children {
		all = append(all, members(groups, child, append(over, name))...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(host string) bool {
		was := seen[host]
		seen[host] = true
		return was
	})
}

func readHost(number int, name string, vars map[string]any) (h Host, err error) {
	for v := range vars {
		if strings.HasPrefix(v, ours) && !slices.Contains(variables, v) {
			return h, fmt.Errorf("unknown variable %s; %s", v, strict.Instead(v, variables))
		}
	}
	value := func(names ...string) string {
		for _, n := range names {
			text := ""
			switch v := vars[n].(type) {
			case nil:
				continue
			case string:
				text = v
			case json.Number:
				text = v.String()
			case bool:
				text = strconv.FormatBool(v)
			default:
				err = cmp.Or(err, fmt.Errorf("%s is neither a text nor a number", n))
			}
			if wrong := strict.CheckLine(text); wrong != nil {
				err = cmp.Or(err, fmt.Errorf("%s %w", n, wrong))
			}
			if strings.Contains(text, "{{") {
				err = cmp.Or(err, fmt.Errorf("%s is a template, %s; write its value", n, text))
			}
			return text
		}
		return ""
	}
	h = Host{Number: number, Name: name,
		Address: value("ansible_host", "ansible_ssh_host"), Port: value("ansible_port", "ansible_ssh_port"),
		User: value("ansible_user", "ansible_ssh_user"),
		Key:  value("ansible_ssh_private_key_file", "ansible_private_key_file"), Dir: value(varDir)}
	switch c := value("ansible_connection"); c {
	case "local", "ansible.builtin.local":
		h.Local = true
	case "", "ssh", "smart", "ansible.builtin.ssh":
	default:
		return h, fmt.Errorf("ansible_connection is %s; the lab knows ssh and local", c)
	}
	if h.Address == "" && h.Local {
		h.Address = "127.0.0.1"
	}
	h.Address, h.Dir = cmp.Or(h.Address, name), cmp.Or(h.Dir, defaultDir)
	h.asked = Asked{Version: protocol, Address: value(varAddress), Device: value(varDevice), CPUs: value(varCPUs)}
	if number > 0 && h.asked.Address != "" {
		err = cmp.Or(err, fmt.Errorf("%s is of the server alone", varAddress))
	}
	for _, v := range []string{"ansible_ssh_common_args", "ansible_ssh_extra_args"} {
		words, wrong := split(value(v))
		if wrong != nil {
			err = cmp.Or(err, fmt.Errorf("%s: %w", v, wrong))
		}
		h.Args = append(h.Args, words...)
	}
	if rate := value(varLineRate); rate != "" {
		var wrong error
		if h.asked.LineRate, wrong = strconv.ParseFloat(rate, 64); wrong != nil ||
			!(h.asked.LineRate > 0 && h.asked.LineRate <= 1e13) {
			err = cmp.Or(err, fmt.Errorf("%s is %s; give bits a second, as 10000000000", varLineRate, rate))
		}
	}
	if n, wrong := strconv.Atoi(h.Port); h.Port != "" && (wrong != nil || n < 1 || n > 65535) {
		err = cmp.Or(err, fmt.Errorf("ansible_port is %s", h.Port))
	}
	if strings.HasPrefix(h.Address, "-") || strings.HasPrefix(h.User, "-") || strings.HasPrefix(h.Dir, "-") {
		err = cmp.Or(err, errors.New("an address, a user or a directory that begins with a hyphen"))
	}
	return h, err
}

// split splits a line into words as a shell does that expands nothing.
func split(line string) (words []string, err error) {
	var word strings.Builder
	in, quote, escaped := false, rune(0), false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			in, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			in, quote = true, r
		case r == ' ' || r == '\t':
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		default:
			in = true
			word.WriteRune(r)
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quote is not closed")
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}
