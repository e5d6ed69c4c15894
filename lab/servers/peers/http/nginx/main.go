// Command nginx_server starts Debian's nginx with the peers' routes.
//
// It opens the address, says so, and becomes nginx, which takes the open socket over as it
// does when its program is replaced while it runs. So it checks the address and prints the
// same message as the other peers, and no process wraps nginx. nginx reads its
// configuration, nginx.conf.tmpl, from memory and leaves no file behind.
//
// nginx cannot draw a body: /read always is the product whose length is nearest the mean.
package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/line-rate/line-rate/lab/internal/program"
)

const help = `nginx_server starts nginx with the routes /simple and /read.

Usage: nginx_server [--addr HOST:PORT] [--bodies DIR] [--threads N] [--work DIR]

  --threads N  worker processes                        (default 1)
  --work DIR   where nginx may put temporary files     (default .tools/peers/nginx)
`

var self = program.Program{Name: "nginx_server", Out: os.Stdout, Errs: os.Stderr}

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	addr, bodies, work, threads := "127.0.0.1:8083", ".tools/peers/bodies", ".tools/peers/nginx", 1
	fs := program.NewFlags()
	fs.StringVar(&addr, "addr", addr, "")
	fs.StringVar(&bodies, "bodies", bodies, "")
	fs.StringVar(&work, "work", work, "")
	fs.Whole("threads", &threads, 1, 256)
	if status, over := self.Over(fs.Read(args, ""), help); over {
		return status
	}
	if err := become(addr, bodies, work, threads); err != nil {
		var status exit
		if errors.As(err, &status) {
			return int(status)
		}
		self.Say("%v", err)
	}
	return program.Failure
}

// An exit is the status after an error that was printed already.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// become replaces this process by nginx. It returns only if that fails.
func become(addr, bodies, work string, threads int) error {
	nginx, err := find()
	if err != nil {
		return err
	}
	if work, err = filepath.Abs(work); err != nil {
		return err
	}
	if err := os.MkdirAll(work, 0o700); err != nil {
		return err
	}
	me, err := user.Current()
	if err != nil {
		return err
	}
	group, err := user.LookupGroupId(me.Gid)
	if err != nil {
		return err
	}
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return err
	}

	ln, status := self.Listen("tcp", addr, "addr")
	if ln == nil {
		return exit(status)
	}
	c := config{Addr: ln.Addr().String(), User: me.Username + " " + group.Name, Root: os.Geteuid() == 0, Workers: threads,
		PID: os.Getpid(), Files: files.Max}
	text, err := c.text(bodies)
	if err != nil {
		return err
	}
	socket, err := ln.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	conf, err := unix.MemfdCreate("nginx.conf", 0)
	if err != nil {
		return fmt.Errorf("memory for the configuration: %w", err)
	}
	if _, err := unix.Write(conf, text); err != nil {
		return fmt.Errorf("memory for the configuration: %w", err)
	}
	// What is to stay open in nginx.
	if _, err := unix.FcntlInt(socket.Fd(), unix.F_SETFD, 0); err != nil {
		return err
	}
	self.Say("listening addr=%s", c.Addr)
	argv := []string{"nginx", "-p", work, "-e", "stderr", "-c", fmt.Sprintf("/proc/self/fd/%d", conf)}
	env := append(os.Environ(), fmt.Sprintf("NGINX=%d;", socket.Fd()))
	return fmt.Errorf("%s: %w", nginx, unix.Exec(nginx, argv, env))
}

// find also looks where Debian puts nginx, which is in no ordinary user's PATH.
func find() (string, error) {
	if path, err := exec.LookPath("nginx"); err == nil {
		return path, nil
	}
	const debian = "/usr/sbin/nginx"
	if _, err := os.Stat(debian); err != nil {
		return "", errors.New("nginx is not installed (Debian and Ubuntu: apt-get install nginx-light)")
	}
	return debian, nil
}
