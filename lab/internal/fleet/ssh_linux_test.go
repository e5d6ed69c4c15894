package fleet

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A daemon is a real sshd on loopback, with keys of its own.
type daemon struct {
	port string
	args []string // of ssh, with the right keys
	dir  string
}

func startSSHD(t *testing.T, more ...string) *daemon {
	t.Helper()
	sshd := "/usr/sbin/sshd"
	if _, err := os.Stat(sshd); err != nil {
		t.Skip("no sshd here (Debian and Ubuntu: apt-get install openssh-server)")
	}
	dir := t.TempDir()
	d := &daemon{dir: dir}
	for _, name := range []string{"host", "key", "other", "other_host"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f",
			filepath.Join(dir, name)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, d.port, _ = net.SplitHostPort(l.Addr().String())
	l.Close()
	key, _ := os.ReadFile(filepath.Join(dir, "key.pub"))
	config := fmt.Sprintf("ListenAddress 127.0.0.1:%s\nHostKey %s/host\nAuthorizedKeysFile %s/authorized\nPidFile "+
		"none\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n%s\n", d.port, dir, dir, strings.Join(more, "\n"))
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "authorized"), key, 0o600),
		os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600)); err != nil {
		t.Fatal(err)
	}
	// As root, sshd wants a directory below /run, which it gets in a mount namespace of
	// its own.
	command := func(args ...string) *exec.Cmd {
		argv := append([]string{sshd, "-f", filepath.Join(dir, "config")}, args...)
		if os.Geteuid() == 0 {
			argv = append([]string{"unshare", "--mount", "sh", "-c", `mount -t tmpfs none /run && mkdir /run/sshd && exec "$@"`,
				"sh"}, argv...)
		}
		return exec.Command(argv[0], argv[1:]...)
	}
	if out, err := command("-t").CombinedOutput(); err != nil {
		t.Skipf("sshd does not start here: %s", out)
	}
	cmd := command("-D", "-e")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	eventually(t, "sshd", func() bool {
		c, err := net.DialTimeout("tcp", "127.0.0.1:"+d.port, time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	d.args = []string{"-F", "none", "-o", "IdentitiesOnly=yes", "-o", "UserKnownHostsFile=" + d.known("host"), "-o",
		"GlobalKnownHostsFile=/dev/null", "-o", "StrictHostKeyChecking=yes"}
	return d
}

// known writes a known_hosts with one of the keys.
func (d *daemon) known(key string) string {
	text, _ := os.ReadFile(filepath.Join(d.dir, key+".pub"))
	path := filepath.Join(d.dir, "known_"+key)
	_ = os.WriteFile(path, fmt.Appendf(nil, "[127.0.0.1]:%s %s", d.port, text), 0o600)
	return path
}

// leads has a host be reached through the daemon.
func (d *daemon) leads(h *Host) {
	me, _ := user.Current()
	h.Local, h.Port, h.User, h.Key, h.Args = false, d.port, me.Username, filepath.Join(d.dir, "key"), d.args
}

func TestOverSSHAsOverALocalConnection(t *testing.T) {
	t.Parallel()
	d := startSSHD(t)
	r := newRig(t, 2)
	there := r.inv.Hosts[0].Dir
	r.write(there, "data/results/99-tiny/a.json", "kept")
	for i := range r.inv.Hosts {
		d.leads(&r.inv.Hosts[i])
	}
	c := r.run(nil, "say=hello", "load=well", "keep="+filepath.Join(there, "data/results/99-tiny/a.json"), "exit=2")
	if c.err != nil || c.status != 2 || c.errs != "hello\n" {
		t.Errorf("status %d: %v", c.status, c.err)
	}
	for i := 1; i <= 2; i++ {
		if !strings.Contains(c.out, fmt.Sprintf("client %d: 7 requests, held true, close true", i)) {
			t.Errorf("client %d", i)
		}
	}
	if text, _ := os.ReadFile(r.root.Path("data/results/99-tiny/a.json")); string(text) != "kept" {
		t.Errorf("collected: %q", text)
	}
}

func TestWhatSSHRefusesIsNamed(t *testing.T) {
	t.Parallel()
	d := startSSHD(t)
	for name, c := range map[string]struct {
		change func(h *Host)
		want   string
	}{
		"a changed host key": {func(h *Host) {
			h.Args = append([]string{"-o", "UserKnownHostsFile=" + d.known("other_host")}, h.Args...)
		},
			"its SSH host key is not the one in known_hosts; if the host was set up anew, remove the old key"},
		"an unknown host key": {func(h *Host) { h.Args = append([]string{"-o", "UserKnownHostsFile=/dev/null"}, h.Args...) },
			"its SSH host key is not in known_hosts;"},
		"another key":  {func(h *Host) { h.Key = filepath.Join(d.dir, "other") }, "SSH refused the user or the key;"},
		"nobody there": {func(h *Host) { h.Port = "1" }, "nothing answers SSH there;"},
		"no such host": {func(h *Host) { h.Address = "nowhere.invalid" }, "its name cannot be looked up; set ansible_host"},
		"no lab": {func(h *Host) { h.Dir = "~/no such directory" },
			"there is no checkout at ~/no such directory (line_rate_dir);"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 2)
			d.leads(&r.inv.Hosts[2])
			c.change(&r.inv.Hosts[2])
			got := r.run(nil)
			if got.err == nil || strings.Contains(got.err.Error(), "\n") ||
				!strings.HasPrefix(got.err.Error(), "client 2, h2.example: "+c.want) {
				t.Errorf("%v, want %q", got.err, c.want)
			}
		})
	}
}

// A bastion's SSH server drops what knocks while ten others have not logged in yet.
func TestHostsBehindOneSSHServerAreNotDropped(t *testing.T) {
	t.Parallel()
	d := startSSHD(t, "MaxStartups 9")
	r := newRig(t, 19)
	for i := range r.inv.Hosts {
		d.leads(&r.inv.Hosts[i])
	}
	if c := r.run(nil, "exit=2"); c.err != nil || c.status != 2 {
		t.Errorf("status %d: %v", c.status, c.err)
	}
}
