//go:build !linux

// Command floor_server needs Linux.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "floor_server: it stands on epoll, which only Linux has; run it there")
	os.Exit(1)
}
