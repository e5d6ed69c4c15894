package tune

import (
	"errors"
	"io"
	"maps"
	"os"
	"strings"
	"testing"
)

// faulty calls ask before each write, until mend is called.
func faulty(ask func(target, string) error) (mend func()) {
	old := beforeWrite
	beforeWrite = ask
	return func() { beforeWrite = old }
}

// refusing refuses the n-th write.
func refusing(n int, why error) func(target, string) error {
	return func(target, string) error {
		if n--; n == 0 {
			return why
		}
		return nil
	}
}

func TestAnApplyThatFailsHalfWayIsPutBack(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	must(t, "rps", "apply", "--dev", d.dev, "--cpus", "0")
	before := snapshot(t, root)
	held := must(t, "show")
	for n := 1; n <= 8; n++ {
		call, err := Read([]string{"rps", "apply", "--dev", d.dev, "--cpus", "1-2"})
		if err != nil {
			t.Fatal(err)
		}
		err = call.run1(t, refusing(n, errors.New("the kernel does not like it")))
		if err == nil || !strings.Contains(err.Error(), "does not like it; what was written before it is put back") {
			t.Errorf("write %d: %v", n, err)
		}
		// As after the first apply, whose originals are still held.
		if !maps.Equal(before, snapshot(t, root)) || must(t, "show") != held {
			t.Fatalf("write %d: not as before", n)
		}
	}
	must(t, "restore")
	if got := get(t, root, netDir+d.dev+"/queues/rx-0/rps_cpus"); got != "00\n" {
		t.Errorf("restored is %q", got)
	}
}

// run1 applies, calling ask before each write.
func (c *Call) run1(t *testing.T, ask func(target, string) error) error {
	t.Helper()
	defer faulty(ask)()
	m, err := here()
	if err != nil {
		t.Fatal(err)
	}
	changes, err := c.knob.changes(m, &c.options)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = c.apply(m, changes, io.Discard)
	return err
}

func TestARestoreThatFailsKeepsWhatItCouldNotRestore(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	before := snapshot(t, root)
	must(t, "rps", "apply", "--dev", d.dev)
	mend := faulty(refusing(3, errors.New("not now")))
	n, err := restoreAll(t)
	mend()
	if n != 7 || err == nil || !strings.Contains(err.Error(), "not now") {
		t.Errorf("%d restored, %v", n, err)
	}
	if out := must(t, "show"); strings.Count(out, "rps_cpus") != 1 {
		t.Errorf("still held:\n%s", out)
	}
	must(t, "restore")
	if !maps.Equal(before, snapshot(t, root)) {
		t.Error("not everything came back")
	}
}

// restoreAll restores everything held, and returns how much that was.
func restoreAll(t *testing.T) (int, error) {
	t.Helper()
	m, err := here()
	if err != nil {
		t.Fatal(err)
	}
	s, err := open(m, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	return s.restore(func(original) bool { return true }, io.Discard)
}

// A kernel that accepts a write but keeps another value is an error.
func TestAWriteThatIsNotKeptIsAnError(t *testing.T) {
	d := c6i2xlarge
	root := d.tree(t)
	name := root + netDir + d.dev + "/mtu"
	ask := func(_ target, value string) error {
		if value == "9001\n" { // restored
			return errors.Join(os.Remove(name), os.WriteFile(name, nil, 0o644))
		}
		return errors.Join(os.Remove(name), os.Symlink(os.DevNull, name))
	}
	call, err := Read([]string{"mtu", "apply", "--dev", d.dev, "--entries", "1500"})
	if err != nil {
		t.Fatal(err)
	}
	err = call.run1(t, ask)
	if err == nil || !strings.Contains(err.Error(),
		`/mtu: "1500" was written, and the kernel made "" of it; what was written before it is put back`) {
		t.Errorf("%v", err)
	}
	if got := get(t, root, netDir+d.dev+"/mtu"); got != "9001\n" {
		t.Errorf("it has %q", got)
	}
	if out := must(t, "show"); !strings.Contains(out, "no originals") {
		t.Errorf("still held:\n%s", out)
	}
}
