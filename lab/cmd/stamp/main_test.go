package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Go would build a faulty file into the lab, which could then start no command.
func TestAFaultyListOfServersIsNotBuilt(t *testing.T) {
	good, err := os.ReadFile("../../servers.toml")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, says string }{
		"a table twice": {string(good) + "[servers.null]\ncommand = \"x\"\n", "lab/servers.toml: line "},
		"unclosed":      {"[servers.a\ncommand = \"x\"\n", "lab/servers.toml: line 1, column "},
		"unknown key": {string(good) + "[servers.a]\ncomand = \"x\"\n",
			`unknown key "servers.a.comand"; did you mean "command"?`},
		"a placeholder": {"[servers.fiber]\ncommand = \"x {adr}\"\n",
			`lab/servers.toml: line 1: servers.fiber: command: nothing is filled in for {adr}; did you mean "addr"?`},
		"none": {"", "lab/servers.toml: line 1: there is no table [servers.fiber]"},
	} {
		root := t.TempDir()
		path := filepath.Join(root, "lab", "servers.toml")
		if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := keep(root, filepath.Join(root, "tags")); err == nil || !strings.Contains(err.Error(), c.says) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
		if _, err := os.Stat(filepath.Join(root, "tags")); err == nil {
			t.Errorf("%s: the sources have their tags", name)
		}
	}
}
