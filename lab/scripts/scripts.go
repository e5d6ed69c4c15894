// Package scripts holds the scripts that a program takes along to where there is no clone.
package scripts

import _ "embed"

// Wire is the text of wire.sh, for bash -c.
//
//go:embed wire.sh
var Wire string
