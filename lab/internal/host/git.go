package host

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Git is a git command for the checkout at root.
func Git(ctx context.Context, root string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-replace-objects", "-C", root}, args...)...)
	// Variables such as GIT_DIR would make git use another checkout. A partial clone
	// would fetch what it lacks.
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") }),
		"GIT_NO_LAZY_FETCH=1")
	return cmd
}
