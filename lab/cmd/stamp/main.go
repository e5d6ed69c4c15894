// Command stamp keeps, for make, a file with the build tags that name the
// sources of the lab's programs. It rewrites the file only if they have
// changed, so that make links again only then.
//
//	go run ./cmd/stamp ROOT FILE
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/host"
)

func main() {
	if len(os.Args) != 3 {
		fail(errors.New("give the root of the checkout and the file to keep"))
	}
	root, file := os.Args[1], os.Args[2]
	last, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		fail(err)
	}
	was := strings.TrimSpace(string(last))
	tags, err := host.BuildTags(root, was)
	if err != nil {
		fail(err)
	}
	if tags == was {
		return
	}
	if err := os.WriteFile(file, []byte(tags+"\n"), 0o644); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintf(os.Stderr, "stamp: %v\n", err)
	os.Exit(1)
}
