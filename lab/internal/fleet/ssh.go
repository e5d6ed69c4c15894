package fleet

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// enter goes to a host's checkout and starts its lab. Its exit statuses say what
// is missing; no lab has them.
const enter = `CDPATH=; d=$1; shift; case $d in "~") d=$HOME ;; "~/"*) d=$HOME/${d#"~/"} ;; esac; ` +
	`cd -- "$d" 2>/dev/null || exit 93; [ -x .tools/bin/lab ] || exit 94; exec .tools/bin/lab "$@"`

const (
	noCheckout = 93
	noLab      = 94
	sshFailed  = 255 // ssh's own exit status
)

// options of ssh. It asks nothing, forwards nothing, is not shared with another
// call, and notices within seconds that the other end is gone.
var options = []string{
	"-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=4",
	"-o", "ControlMaster=no", "-o", "ControlPath=none", "-o", "ControlPersist=no",
	"-o", "ForwardAgent=no", "-o", "ForwardX11=no", "-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no",
	"-o", "EscapeChar=none", "-o", "LogLevel=ERROR",
}

// command is the command line that starts the lab on a host with some arguments.
func (h Host) command(args ...string) []string {
	there := append([]string{"sh", "-c", enter, "lab-host", h.Dir}, args...)
	if h.Local {
		return there
	}
	argv := append([]string{"ssh"}, options...)
	for _, o := range [][2]string{{"-p", h.Port}, {"-l", h.User}, {"-i", h.Key}} {
		if o[1] != "" {
			argv = append(argv, o[0], o[1])
		}
	}
	return append(append(argv, h.Args...), "--", h.Address, "exec "+quoted(there))
}

// quoted makes one line for a shell of words that it leaves as they are.
func quoted(words []string) string {
	return strings.Join(strict.Called(words, func(word string) string {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}), " ")
}

// prepare is the way out where a host lacks something.
const prepare = "make fleet-prepare mends it"

//go:embed signs.toml
var signsText []byte

// signs are what ssh prints for one cause, and that cause in words with the way out.
var signs = strict.Embedded[struct{ Signs []sign }](signsText).Signs

type sign struct{ Has, Says string }

// refusal says in one line why a command on a host ended before its lab answered.
func (h Host) refusal(code int, errs []string) string {
	switch {
	case code == noCheckout:
		return fmt.Sprintf("there is no checkout at %s (line_rate_dir); %s", h.Dir, prepare)
	case code == noLab:
		return fmt.Sprintf("there is no lab in the checkout at %s; %s", h.Dir, prepare)
	case !h.Local && code == sshFailed:
		for _, s := range signs {
			if slices.ContainsFunc(errs, func(l string) bool { return strings.Contains(l, s.Has) }) {
				return s.Says
			}
		}
	}
	for _, l := range slices.Backward(errs) {
		if l = said(l); l != "" {
			return strings.TrimPrefix(l, "lab: ")
		}
	}
	return ""
}
