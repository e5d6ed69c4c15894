// Package lab holds what the lab's programs are built with and anyone may
// extend without Go: the servers that experiments can name.
package lab

import _ "embed"

// Servers is the text of servers.toml. It is part of the programs, so that a run
// has the servers of the sources that its programs were built from.
//
//go:embed servers.toml
var Servers []byte
