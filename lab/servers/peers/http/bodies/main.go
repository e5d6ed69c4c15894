// Command bodies writes what the peers answer: they are written in several languages and
// cannot call package catalog.
//
//	bodies DIR
//
// Each file has one body a line, since anything can read JSON on one line. They are
// simple.jsonl with the body of /simple, read.jsonl with the products of /read in their
// order, and read-middle.jsonl with the product of about the mean length, for a server
// that cannot draw. The SHA-256 of read.jsonl is the digest of the catalogue; a directory
// that has these files already is left as it is.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/line-rate/line-rate/lab/internal/program"
	"github.com/line-rate/line-rate/lab/server/catalog"
)

func main() {
	self := program.Program{Name: "bodies", Out: os.Stdout, Errs: os.Stderr}
	if len(os.Args) != 2 {
		self.Say("give the directory to write to")
		os.Exit(program.Refused)
	}
	digest, err := write(os.Args[1])
	if err != nil {
		self.Say("%v", err)
		os.Exit(program.Failure)
	}
	fmt.Printf("%s  %s\n", digest, filepath.Join(os.Args[1], "read.jsonl"))
}

// write writes the files that are not there or differ, and returns the digest of the
// products.
func write(dir string) (digest string, err error) {
	pool, err := catalog.NewPool(catalog.Seed)
	if err != nil {
		return "", err
	}
	route, ok := catalog.RouteOf("/read")
	if !ok {
		return "", errors.New("the catalogue has no route /read")
	}
	var read [][]byte
	for i := range route.Count {
		read = append(read, route.Body(pool, i))
	}
	all := lines(read...)
	sum := sha256.Sum256(all)
	if digest = hex.EncodeToString(sum[:]); digest != pool.Digest() {
		return "", fmt.Errorf("read.jsonl would have the digest %s, and the catalogue has %s", digest, pool.Digest())
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for name, content := range map[string][]byte{
		"simple.jsonl":      lines([]byte(catalog.Simple)),
		"read.jsonl":        all,
		"read-middle.jsonl": lines(route.Middle(pool)),
	} {
		if err := keep(filepath.Join(dir, name), content); err != nil {
			return "", err
		}
	}
	return digest, nil
}

func lines(bodies ...[]byte) []byte {
	return append(bytes.Join(bodies, []byte{'\n'}), '\n')
}

// keep makes a file have that content; it is never half-written.
func keep(path string, content []byte) error {
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, content) {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
