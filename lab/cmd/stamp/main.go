// Command stamp keeps, for make, a file with the build tags that name the
// sources of the lab's programs. It rewrites the file only if they have
// changed, so that make links again only then. Of these sources it refuses a
// faulty lab/servers.toml: Go would build it into programs that cannot start.
//
//	go run ./cmd/stamp ROOT FILE
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/host"
)

func main() {
	err := errors.New("give the root of the checkout and the file to keep")
	if len(os.Args) == 3 {
		err = keep(os.Args[1], os.Args[2])
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "stamp: %v\n", err)
		os.Exit(1)
	}
}

func keep(root, file string) error {
	text, err := os.ReadFile(filepath.Join(root, "lab", "servers.toml"))
	if err == nil {
		_, err = experiment.ParseServers(text)
	}
	if err != nil {
		return fmt.Errorf("lab/servers.toml: %w", err)
	}
	last, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	was := strings.TrimSpace(string(last))
	tags, err := host.BuildTags(root, was)
	if err != nil || tags == was {
		return err
	}
	return os.WriteFile(file, []byte(tags+"\n"), 0o644)
}
