package main

import (
	"testing"
	"time"
)

func TestAWaitOnATerminalIsOneLine(t *testing.T) {
	r, out, c := reporting(true)
	end := r.Wait("profiles", time.Minute)
	first := "  profiles: 0 s of 1 min 00 s, 1 min 00 s left"
	wrote(t, out, "\r"+first)
	r.waited("profiles", 12*time.Second, time.Minute)
	second := "  profiles: 12 s of 1 min 00 s, 48 s left"
	wrote(t, out, "\r"+second+blanks(len(first)-len(second)))
	r.waited("profiles", 61*time.Second, time.Minute)
	last := "  profiles: waiting for the last answers"
	wrote(t, out, "\r"+last+blanks(len(second)-len(last)))
	c.at = c.at.Add(time.Minute)
	end()
	wrote(t, out, "\r"+blanks(len(last))+"\r")
}

func TestAWaitInALogIsPlainLines(t *testing.T) {
	r, out, _ := reporting(false)
	end := r.Wait("profiles", 30*time.Second)
	wrote(t, out, "profiles: 0 s of 30 s, 30 s left\n")
	r.waited("profiles", 10*time.Second, 30*time.Second)
	wrote(t, out, "profiles: 10 s of 30 s, 20 s left\n")
	end()
	wrote(t, out, "")
}
