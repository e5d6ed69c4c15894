package strict

import (
	"fmt"
	"regexp"
	"strings"
)

// Words splits a command into its words, as a shell does with quotes and nothing else.
func Words(line string) (words []string, err error) {
	var word strings.Builder
	var quote rune
	open := false // whether a word has begun, which may be empty in quotes
	for _, r := range line + " " {
		switch blank := r == ' ' || r == '\t' || r == '\n'; {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, open = r, true
		case quote == 0 && blank && open:
			words, open = append(words, word.String()), false
			word.Reset()
		case quote != 0 || !blank:
			word.WriteRune(r)
			open = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("has a quote %c that does not end", quote)
	}
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
