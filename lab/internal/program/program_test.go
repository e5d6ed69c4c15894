package program

import (
	"bytes"
	"errors"
	"flag"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

func made() (p Program, out, errs *bytes.Buffer) {
	out, errs = new(bytes.Buffer), new(bytes.Buffer)
	return Program{"made_up", out, errs}, out, errs
}

func TestACallIsOverOrGoesOn(t *testing.T) {
	for _, c := range []struct {
		args      []string
		status    int
		over      bool
		out, errs string
	}{
		{[]string{"--n", "3", "--addr", "localhost:80"}, OK, false, "", ""},
		{[]string{"--help"}, OK, true, "help\n", ""},
		{[]string{"-h"}, OK, true, "help\n", ""},
		{[]string{"--n", "0"}, Refused, true, "",
			`made_up: invalid value "0" for flag -n: give a whole number from 1 to 9; see --help` + "\n"},
		{[]string{"--n", "1.5"}, Refused, true, "",
			`made_up: invalid value "1.5" for flag -n: give a whole number from 1 to 9; see --help` + "\n"},
		{[]string{"--addr", "192.0.2.1:80"}, Refused, true, "",
			`made_up: invalid value "192.0.2.1:80" for flag -addr: give HOST:PORT with a loopback host: 127.0.0.1, [::1] or localhost; see --help` + "\n"},
		{[]string{"--m"}, Refused, true, "", "made_up: flag provided but not defined: -m; see --help\n"},
		{[]string{"more"}, Refused, true, "", `made_up: unexpected argument "more"; join it with =; see --help` + "\n"},
	} {
		p, out, errs := made()
		fs := NewFlags()
		n, addr := 1, ""
		fs.Whole("n", &n, 1, 9)
		fs.Loopback("addr", &addr)
		status, over := p.Over(fs.Read(c.args, "join it with =; "), "help\n")
		if status != c.status || over != c.over || out.String() != c.out || errs.String() != c.errs {
			t.Errorf("%q: %d, %v, %q, %q", c.args, status, over, out, errs)
		}
		if !over && (n != 3 || addr != "127.0.0.1:80") {
			t.Errorf("%q: %d, %q", c.args, n, addr)
		}
	}
	if err := NewFlags().Read([]string{"--help"}, ""); err != flag.ErrHelp {
		t.Error(err)
	}
}

func TestWhatIsSaidIsOneLine(t *testing.T) {
	p, _, errs := made()
	p.Say("%v", errors.Join(errors.New("one"), errors.New("two")))
	if errs.String() != "made_up: one; two\n" {
		t.Errorf("%q", errs)
	}
}

func TestAnAddressThatCannotBeHadIsTold(t *testing.T) {
	p, _, errs := made()
	ln, status := p.Listen("tcp", "127.0.0.1:0", "addr")
	if ln == nil || status != OK {
		t.Fatal(status, errs)
	}
	defer ln.Close()
	other, status := p.Listen("tcp", ln.Addr().String(), "pprof-addr")
	if want := "made_up: " + ln.Addr().String() +
		" is already in use; stop the other server or choose another with --pprof-addr\n"; other != nil || status != InUse ||
		errs.String() != want {
		t.Errorf("%d, %q", status, errs)
	}
	errs.Reset()
	// An address for documentation, which no machine has.
	if other, status := p.Listen("tcp", "192.0.2.1:80", "addr"); other != nil || status != Failure ||
		!strings.HasPrefix(errs.String(), "made_up: --addr: ") {
		t.Errorf("%d, %q", status, errs)
	}
}

func TestServingEndsWhenAskedOrWhenItFails(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	p, _, errs := made()
	if status := p.Serve(ln, nil, func() error { return errors.New("too much") }); status != Failure ||
		!strings.HasSuffix(errs.String(), " listening addr="+ln.Addr().String()+"\nmade_up: serve: too much\n") {
		t.Errorf("%d, %q", status, errs)
	}
	asked := Asked()
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if status := p.Serve(ln, asked, func() error { select {} }); status != OK {
		t.Error(status)
	}
}

func TestALoopbackAddress(t *testing.T) {
	for v, want := range map[string]string{
		"127.0.0.1:8083": "127.0.0.1:8083", "127.1.2.3:0": "127.1.2.3:0", "[::1]:1": "[::1]:1",
		"[::ffff:127.0.0.1]:1": "[::ffff:127.0.0.1]:1", "localhost:80": "127.0.0.1:80",
		"": "", "6060": "", ":8083": "", "0.0.0.0:1": "", "[::]:1": "", "128.0.0.1:6060": "", "[::ffff:192.0.2.1]:1": "",
		"localhost.example.com:1": "", "example.org:1": "", "127.1:1": "", "::1:1": "",
		"127.0.0.1": "", "127.0.0.1:http": "", "127.0.0.1:65536": "",
	} {
		fs, got := NewFlags(), ""
		fs.Loopback("addr", &got)
		if err := fs.Parse([]string{"--addr", v}); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", v, got, err)
		}
	}
}
