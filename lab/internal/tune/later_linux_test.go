package tune

import (
	"maps"
	"os"
	"strings"
	"testing"
)

// After a reboot the kernel has its own values again. Settings of the machine
// itself are restored where they differ; settings of a namespace are gone.
func TestAfterAReboot(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	before := snapshot(t, root)
	must(t, "rps", "apply", "--dev", d.dev)
	must(t, "sysctl", "apply")
	must(t, "irq-pin", "apply", "--dev", d.dev, "--cpus", "0")
	applied := snapshot(t, root)
	// In another namespace, whose processes end with the boot.
	leave(t, root, 4026532000)
	must(t, "mtu", "apply", "--dev", d.dev, "--entries", "1400")
	comeBack(t, root)

	for path, text := range before {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(t, root, sysctlDir+"kernel/random/boot_id", "22222222-2222-4222-8222-222222222222\n")
	put(t, root, netDir+d.dev+"/ifindex", "5\n") // numbered in another order
	// A value that survives the boot, as if set in sysctl.d.
	put(t, root, sysctlDir+"net/core/somaxconn", applied[root+sysctlDir+"net/core/somaxconn"])
	// An interrupt number that another device has now.
	table := strings.Replace(get(t, root, "/proc/interrupts"), "ens5-Tx-Rx-2\n", "nvme1q2\n", 1)
	put(t, root, "/proc/interrupts", table)
	put(t, root, "/proc/irq/30/smp_affinity_list", "3\n")

	out, errs, err := lab("restore")
	if err != nil {
		t.Fatal(err)
	}
	if got := get(t, root, sysctlDir+"net/core/somaxconn"); got != "4096\n" {
		t.Errorf("somaxconn is %q", got)
	}
	if got := get(t, root, "/proc/irq/30/smp_affinity_list"); got != "3\n" {
		t.Errorf("an interrupt of another device was written to: %q", got)
	}
	for _, line := range []string{
		"forgotten: /sys/class/net/ens5/mtu: its network namespace went with the last boot",
		"forgotten: /proc/irq/30/smp_affinity_list: interrupt 30 is no longer ens5-Tx-Rx-2",
	} {
		if !strings.Contains(errs, line+"\n") {
			t.Errorf("not said: %s\n%s", line, errs)
		}
	}
	if strings.Count(errs, "\n") != 2 || !strings.Contains(out, "21 originals restored") {
		t.Errorf("%s%s", out, errs)
	}
	if out := must(t, "show"); !strings.Contains(out, "no originals") {
		t.Errorf("%s", out)
	}
}

func TestWhatIsGoneIsForgotten(t *testing.T) {
	d := c6i2xlarge
	for _, c := range []struct {
		name, want string
		turn       []string
		change     func(root string) error
	}{
		{"an interface that is gone", "no interface ens5 any more", []string{"mtu", "--dev", d.dev, "--entries", "1500"},
			func(root string) error { return os.Remove(root + netDir + d.dev) }},
		{"an interface of the same name", "ens5 is another one now", []string{"mtu", "--dev", d.dev, "--entries", "1500"},
			func(root string) error {
				return os.WriteFile(root+netDir+d.dev+"/ifindex", []byte("9\n"), 0o644)
			}},
		{"a namespace that is gone", "network namespace 4026532000 is gone", []string{"rps", "--dev", d.dev},
			func(root string) error {
				comeBack(t, root)
				return nil
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := d.tree(t)
			if strings.Contains(c.want, "namespace") {
				leave(t, root, 4026532000)
			}
			must(t, do("apply", c.turn)...)
			if err := c.change(root); err != nil {
				t.Fatal(err)
			}
			before := snapshot(t, root)
			out, errs, err := lab("restore")
			if err != nil || !strings.Contains(errs, c.want) || strings.Count(out, "0 originals restored") != 1 {
				t.Errorf("%v\n%s%s; want %q", err, out, errs, c.want)
			}
			if !maps.Equal(before, snapshot(t, root)) {
				t.Error("something was written")
			}
		})
	}
}
