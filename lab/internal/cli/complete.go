package cli

import (
	"embed"
	"strings"

	"github.com/alecthomas/kong"
)

// completeCall is the call with which a shell asks for what may stand in place of the last word.
const completeCall = "complete-words"

// shells has a file for each, which asks for words by a completeCall of the PROGRAM, and offers files where
// there are none.
//
//go:embed completion
var shells embed.FS

// Completion is what a shell reads to complete the program's words.
func (p Program) Completion(shell string) string {
	text, _ := shells.ReadFile("completion/" + shell) // none of another shell
	return strings.ReplaceAll(string(text), "PROGRAM", p.Name)
}

// complete gives what may stand in place of the last word, a line each: a command, or a flag of the
// command that the words before it select.
func (p Program) complete(words []string) string {
	var found strings.Builder
	add := func(word string, hidden bool) {
		if !hidden && len(words) > 0 && strings.HasPrefix(word, words[len(words)-1]) {
			found.WriteString(word + "\n")
		}
	}
	at := p.parser().Model.Node
	for _, word := range words[:max(len(words)-1, 0)] {
		for _, child := range at.Children {
			if child.Type == kong.CommandNode && child.Name == word {
				at = child
				break
			}
		}
	}
	for _, child := range at.Children {
		add(child.Name, child.Hidden)
	}
	if len(words) > 0 && strings.HasPrefix(words[len(words)-1], "-") {
		for ; at != nil; at = at.Parent {
			for _, flag := range at.Flags {
				add("--"+flag.Name, flag.Hidden)
			}
		}
	}
	return found.String()
}
