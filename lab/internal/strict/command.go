package strict

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// longestCommand limits a command, in characters.
const longestCommand = 4000

// Words splits a command into its words, as a shell does with quotes and nothing else.
func Words(line string) (words []string, err error) {
	if len(line) > longestCommand {
		return nil, fmt.Errorf("has more than %d characters", longestCommand)
	}
	var word strings.Builder
	var quote rune
	open := false // whether a word has begun, which may be empty in quotes
	end := func() {
		if open {
			words = append(words, word.String())
		}
		word.Reset()
		open = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, open = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			end()
		case r < ' ' || r == 0x7f:
			return nil, errors.New("has a control character")
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("has a quote %c that does not end", quote)
	}
	end()
	return words, nil
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// Shell writes words as one would type them; Words splits them again.
func Shell(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; !plainWord.MatchString(w) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'"'"'`) + "'"
		}
	}
	return strings.Join(out, " ")
}
