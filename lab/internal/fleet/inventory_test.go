package fleet

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// listed is what ansible-inventory --list prints of a small fleet.
const listed = `{
  "_meta": {"hostvars": {
    "alpha": {"ansible_host": "192.0.2.1", "ansible_port": 2222, "ansible_user": "me", "ansible_ssh_private_key_file": "~/.ssh/my key",
      "ansible_ssh_common_args": "-o UserKnownHostsFile='/a b' -J jump", "line_rate_address": "198.51.100.1", "line_rate_cpus": "0-1", "http_port": [80]},
    "beta": {"line_rate_bps": 10000000000, "line_rate_dir": "/srv/line rate", "line_rate_device": "ens5"},
    "gamma": {"ansible_connection": "local"}
  }},
  "all": {"children": ["ungrouped", "server", "clients"]},
  "server": {"hosts": ["alpha"]},
  "clients": {"hosts": ["gamma"], "children": ["rack"]},
  "rack": {"hosts": ["beta", "gamma"]}
}`

func TestAnInventoryIsRead(t *testing.T) {
	inv, err := parseInventory([]byte(listed))
	if err != nil || len(inv.Hosts) != 3 {
		t.Fatal(err, inv)
	}
	a, g, b := inv.Hosts[0], inv.Hosts[1], inv.Hosts[2]
	if want := (Host{0, "alpha", "192.0.2.1", "2222", "me", "~/.ssh/my key",
		[]string{"-o", "UserKnownHostsFile=/a b", "-J", "jump"}, false, "~/line-rate",
		Asked{Version: 1, Server: true, Address: "198.51.100.1", CPUs: "0-1", Clients: 2}}); !reflect.DeepEqual(a, want) {
		t.Errorf("%+v", a)
	}
	if !g.Local || g.Number != 1 || g.asked.Address != "198.51.100.1" || b.Number != 2 || b.asked.LineRate != 1e10 ||
		b.Dir != "/srv/line rate" || b.asked.Device != "ens5" || b.Address != "beta" {
		t.Errorf("%+v, %+v", g, b)
	}
	line := strings.Join(a.command("fleet-client", "it's"), " ")
	for _, want := range []string{"ssh -T -o BatchMode=yes", "ControlPersist=no", "-p 2222 -l me -i ~/.ssh/my key",
		"-J jump -- 192.0.2.1 exec 'sh' '-c' ", `'~/line-rate' 'fleet-client' 'it'\''s'`} {
		if !strings.Contains(line, want) {
			t.Errorf("no %s in %s", want, line)
		}
	}
	if strings.Contains(line, "StrictHostKeyChecking") {
		t.Error(line)
	}
}

func TestAnInventoryThatIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ old, new, want string }{
		"a slip": {"line_rate_dir", "line_rate_dri",
			`host beta: unknown variable line_rate_dri; did you mean "line_rate_dir"?`},
		"two servers": {`"server": {"hosts": ["alpha"]}`, `"server": {"hosts": ["alpha", "beta"]}`,
			"group server has 2 hosts; it needs exactly one"},
		"no server":          {`"server": {"hosts": ["alpha"]},`, ``, "group server has 0 hosts"},
		"no clients":         {`"clients": {"hosts": ["gamma"], "children": ["rack"]},`, ``, "group clients has no hosts"},
		"both":               {`["gamma"], "children"`, `["alpha"], "children"`, "alpha is in both groups"},
		"a rate in words":    {"10000000000", `"10 Gbit"`, "host beta: line_rate_bps is 10 Gbit; give bits a second"},
		"a template":         {"/srv/line rate", "{{ base }}/lab", "host beta: line_rate_dir is a template"},
		"another connection": {`"local"`, `"docker"`, "host gamma: ansible_connection is docker"},
		"an open quote":      {"='/a b'", "='/a b", "host alpha: ansible_ssh_common_args: a quote is not closed"},
		"a port":             {"2222", "0", "host alpha: ansible_port is 0"},
		"an option":          {"192.0.2.1", "-oProxyCommand=x", "begins with a hyphen"},
		"a client's address": {`"line_rate_device": "ens5"`, `"line_rate_address": "x"`,
			"host beta: line_rate_address is of the server alone"},
		"a list":  {`"0-1"`, `[0, 1]`, "host alpha: line_rate_cpus is neither a text nor a number"},
		"no JSON": {listed, "oops", "line 1"},
	} {
		if !strings.Contains(listed, c.old) {
			t.Fatalf("%s: no %q", name, c.old)
		}
		if _, err := parseInventory([]byte(strings.Replace(listed, c.old, c.new, 1))); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestAnsibleInventoryReadsTheFile(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "hosts.yml")
	read := func() (*Inventory, error) { return ReadInventory(context.Background(), root, file) }
	if _, err := read(); err == nil || !strings.Contains(err.Error(), "hosts.yml: no such file") {
		t.Error(err)
	}
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "/nowhere")
	if _, err := read(); err == nil || err.Error() != "ansible-inventory, which reads inventories, is not installed; "+
		"run make ansible" {
		t.Error(err)
	}
	t.Setenv("PATH", "/usr/bin:/bin")
	program := filepath.Join(root, ".tools", "ansible", "bin", "ansible-inventory")
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	script := func(text string) {
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	script("cat <<'EOF'\n" + listed + "\nEOF\n")
	if inv, err := read(); err != nil || len(inv.Hosts) != 3 {
		t.Error(err)
	}
	script("echo a >&2; echo 'ERROR! no inventory' >&2; exit 1\n")
	if _, err := read(); err == nil || err.Error() != file+": ansible-inventory cannot read it: ERROR! no inventory" {
		t.Error(err)
	}
}

func TestRefusalsOfSSHAreOneLine(t *testing.T) {
	h := Host{Name: "x", Dir: "~/line-rate"}
	for _, c := range []struct {
		code  int
		lines string
		want  string
	}{
		{255, "@@@@@\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\nHost key for [h]:22 has changed and " +
			"you have requested strict checking.\nHost key verification failed.",
			"its SSH host key is not the one in known_hosts;"},
		{255, "No ED25519 host key is known for [127.0.0.1]:22 and you have requested strict checking.\nHost key " +
			"verification failed.", "its SSH host key is not in known_hosts;"},
		{255, "Host key verification failed.", "its SSH host key is not in known_hosts;"},
		{255, "me@h: Permission denied (publickey).", "SSH refused the user or the key;"},
		{255, "ssh: connect to host h port 22: Connection refused", "nothing answers SSH there;"},
		{255, "ssh: connect to host h port 22: No route to host", "there is no route to it"},
		{255, "ssh: Could not resolve hostname h: Name or service not known", "its name cannot be looked up;"},
		{93, "", "there is no checkout at ~/line-rate"},
		{94, "", "there is no lab in the checkout at ~/line-rate"},
		{3, "warning: a\nlab: http_load is not built; run make build", "http_load is not built; run make build"},
		{3, "", ""},
	} {
		if got := h.refusal(c.code, strings.Split(c.lines, "\n")); !strings.HasPrefix(got, c.want) ||
			strings.Contains(got, "\n") || c.want == "" && got != "" {
			t.Errorf("%d, %q: %q, want %q", c.code, c.lines, got, c.want)
		}
	}
}
