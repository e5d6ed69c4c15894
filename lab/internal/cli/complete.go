package cli

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// completeCall is the call with which a shell asks for what may stand in place of the last word.
const completeCall = "complete-words"

// shells has what each shell reads, with %[1]s for the program; it asks for words by a completeCall,
// and offers files where there are none.
var shells = map[string]string{
	"bash": `_%[1]s() { mapfile -t COMPREPLY < <(%[1]s %[2]s "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); }
complete -o default -F _%[1]s %[1]s
`,
	"zsh": `#compdef %[1]s
_%[1]s() {
  local -a found=("${(@f)$(%[1]s %[2]s "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ -n "$found" ]] && compadd -- $found || _files
}
compdef _%[1]s %[1]s
`,
	"fish": `complete -c %[1]s -a '(%[1]s %[2]s (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
}

// Completion is what a shell reads to complete the program's words.
func (p Program) Completion(shell string) string {
	return fmt.Sprintf(shells[shell], p.Name, completeCall)
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
