package results

import (
	"regexp"
	"strings"
)

// A command line is the lab, or one of its scripts, with plain words, or quoted ones.
// Pages print it for readers to type, so it may not hold what a shell acts on. A
// wire's lines begin with what enters its namespace.
var (
	plainWord   = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)
	commandLine = regexp.MustCompile(`^(?:lab/scripts/[a-z-]+\.sh|\.tools/bin/lab)( [A-Za-z0-9_./:=,@%+-]+| '[^'\x00-\x1f\x7f]*')*$`)
)

// CommandLine joins words as a reader would type them.
func CommandLine(argv []string) string {
	var line []string
	for _, word := range argv {
		if !plainWord.MatchString(word) {
			word = "'" + word + "'"
		}
		line = append(line, word)
	}
	return strings.Join(line, " ")
}
