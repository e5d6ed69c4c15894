package archivetest

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed counted.toml
var countedDesign string

// CountedDesign is a small experiment of an entry.
func CountedDesign(entry string, core bool) string {
	return strings.NewReplacer(`"97"`, fmt.Sprintf("%q", entry), "core = true", fmt.Sprintf("core = %v", core)).
		Replace(countedDesign)
}

// CountedWorkers is what small experiments compare and claim.
var CountedWorkers = countedDesign[strings.Index(countedDesign, "[[factors]]"):]
