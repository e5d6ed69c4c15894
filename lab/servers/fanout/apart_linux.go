package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/line-rate/line-rate/lab/internal/program"
)

// The kernel ends the readers' process with the thread that started it, so that is the main one.
func init() { runtime.LockOSThread() }

// startReaders starts a process of this program, with the same arguments, for the readers. It inherits
// its sockets, TCP and Unix, so that their addresses are known before it runs. gone tells when it has ended.
func (s *settings) startReaders(args []string) (gone <-chan error, err error) {
	cmd := exec.Command("/proc/self/exe", append(args, "--inherited")...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	// An abstract address of a Unix socket: no file is left behind.
	for _, at := range [][2]string{{"tcp", "127.0.0.1:0"}, {"unix", fmt.Sprintf("@fanout-%d", os.Getpid())}} {
		ln, err := net.Listen(at[0], at[1])
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
		if at[0] == "tcp" {
			s.readers = ln.Addr().String()
		}
		if at[0] == s.apart {
			s.pushTo = ln.Addr()
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
	var all [2]net.Listener
	for i := range all {
		var err error
		if all[i], err = net.FileListener(os.NewFile(uintptr(3+i), "inherited")); err != nil { // after the standard streams
			fanout.Say("--inherited is set by --apart alone: %v", err)
			return program.Refused
		}
	}
	srv := newServer(s)
	go func() { _ = srv.serve(all[1]) }() // ends with the process
	return fanout.Serve(all[0], asked, func() error { return srv.serve(all[0]) })
}
