package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/tune"
)

// A completion prints a script for a shell. It is written from kong's model of the
// subcommands; libraries for this have the shell call the lab at each key.
type completion struct {
	Shell string `arg:"" enum:"bash" help:"bash, which takes it in by: source <(lab completion bash)"`
}

func (completion) do(_ context.Context, out io.Writer) (int, error) {
	var names, cases []string
	for _, n := range parser().Model.Children {
		if n.Hidden {
			continue
		}
		names = append(names, n.Name)
		words := []string{"--help"}
		for _, f := range n.Flags {
			if !f.Hidden {
				words = append(words, "--"+f.Name)
			}
		}
		switch {
		case n.Passthrough:
			words = append(words, tune.Knobs()...)
		case len(n.Positional) > 0 && n.Positional[0].Name == "experiment":
			words = append(words, `$("${COMP_WORDS[0]}" list 2>/dev/null | sed -n 's/^\([^ ]*\) (entry .*/\1/p')`)
		}
		cases = append(cases, fmt.Sprintf("    *:%s) words=\"%s\" ;;\n", n.Name, strings.Join(words, " ")))
	}
	_, err := fmt.Fprintf(out, `_lab() {
  local words
  case $COMP_CWORD:${COMP_WORDS[1]} in
    1:*) words="%s" ;;
%s  esac
  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _lab lab
`, strings.Join(names, " "), strings.Join(cases, ""))
	return exitHeld, err
}
