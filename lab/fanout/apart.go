package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/line-rate/line-rate/lab/fanout/push"
	"github.com/line-rate/line-rate/lab/internal/program"
)

// How the writers' process reaches that of the readers.
const (
	overTCP  = "tcp"
	overUnix = "unix"
)

// The kernel ends the readers' process with the thread that started it, so that is the main one.
func init() { runtime.LockOSThread() }

// startReaders starts a process of this program, with the same arguments, for the readers. It inherits
// its sockets, so that their addresses are known before it runs. gone tells when it has ended.
func (s *settings) startReaders(args []string) (gone <-chan error, err error) {
	listeners := []struct{ network, addr string }{{"tcp", "127.0.0.1:0"}}
	if s.apart == overUnix {
		// An abstract address: no file is left behind.
		listeners = append(listeners, struct{ network, addr string }{"unix", fmt.Sprintf("@fanout-%d", os.Getpid())})
	}
	cmd := exec.Command("/proc/self/exe", append(args, "--inherited")...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	for _, l := range listeners {
		ln, err := net.Listen(l.network, l.addr)
		if err != nil {
			return nil, err
		}
		defer ln.Close()
		file, err := ln.(interface{ File() (*os.File, error) }).File()
		if err != nil {
			return nil, err
		}
		defer file.Close()
		cmd.ExtraFiles = append(cmd.ExtraFiles, file)
		to := "unix:" + ln.Addr().String()
		if l.network == "tcp" {
			to = "http://" + ln.Addr().String()
			s.readers = to
		}
		if s.push.To, err = push.Parse(to); err != nil {
			return nil, err
		}
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(cmd.Wait(), errors.New("the writers' process needs it")) }()
	return ended, nil
}

// serveReaders is the readers' process: it serves on the sockets that it has inherited.
func (s settings) serveReaders(fanout program.Program, asked <-chan os.Signal) int {
	const first = 3 // after the standard streams
	var all []net.Listener
	for n := range map[string]int{overTCP: 1, overUnix: 2}[s.apart] {
		ln, err := net.FileListener(os.NewFile(uintptr(first+n), "inherited"))
		if err != nil {
			fanout.Say("--inherited is set by --apart alone: %v", err)
			return program.Refused
		}
		all = append(all, ln)
	}
	if all == nil {
		fanout.Say("--inherited is set by --apart alone")
		return program.Refused
	}
	s.push.To = nil
	srv := newServer(s)
	for _, also := range all[1:] {
		go func() { _ = srv.serve(also) }() // ends with the process
	}
	return fanout.Serve(all[0], asked, func() error { return srv.serve(all[0]) })
}
