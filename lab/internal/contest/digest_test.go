package contest

import (
	"os"
	"path/filepath"
	"testing"
)

// Another script makes another server, though the interpreter is the same.
func TestTheDigestIsOfAllFilesThatACommandNames(t *testing.T) {
	script := filepath.Join(t.TempDir(), "server.sh")
	of := func(text string, words ...string) string {
		t.Helper()
		if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return digest(append(words, "--port", "{port}"))
	}
	one, other, alone := of("1", "sh", script), of("2", "sh", script), of("2", "sh")
	if one == other || other == alone || len(one) != 64 || len(alone) != 64 || one != of("1", "sh", script) {
		t.Errorf("%s, %s, %s", one, other, alone)
	}
	if got := of("1", script); got != "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b" { // sha256 of "1"
		t.Errorf("of one file: %s", got)
	}
	if got := digest([]string{"no such program"}); got != "" {
		t.Errorf("of none: %s", got)
	}
}
