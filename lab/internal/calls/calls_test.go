package calls

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write names.txt anew")

// The numbers are those of golang.org/x/sys; go test -update writes them.
func TestNamesAreThoseOfTheKernel(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/sys").Output()
	if err != nil {
		t.Skip("go list does not find golang.org/x/sys: ", err)
	}
	numbers := map[string][2]string{}
	for i, arch := range []string{"amd64", "arm64"} {
		path := filepath.Join(strings.TrimSpace(string(dir)), "unix", "zsysnum_linux_"+arch+".go")
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			v, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			name, ok := strings.CutPrefix(v.Names[0].Name, "SYS_")
			if ok {
				both := numbers[strings.ToLower(name)]
				both[i] = v.Values[0].(*ast.BasicLit).Value
				numbers[strings.ToLower(name)] = both
			}
			return true
		})
	}
	var lines []string
	for name, both := range numbers {
		for i := range both {
			if both[i] == "" {
				both[i] = "-"
			}
		}
		lines = append(lines, fmt.Sprintln(name, both[0], both[1]))
	}
	slices.Sort(lines)
	if *update {
		if err := os.WriteFile("names.txt", []byte(strings.Join(lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have := slices.Sorted(strings.Lines(table))
	if !slices.Equal(have, lines) {
		t.Errorf("names.txt has %d lines, golang.org/x/sys says %d, or they differ; go test -update", len(have), len(lines))
	}
}
