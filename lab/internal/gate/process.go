package gate

import (
	"regexp"
	"strings"
)

// Another stands in place of a process's name that is not published.
const Another = "another process"

// Process gives the name under which results and pages may show a process, as gates.toml says.
func Process(name string) string {
	if file.Published[name] != "" {
		return name
	}
	class, _, _ := strings.Cut(name, "/")
	for _, k := range file.Kernels {
		if class == k || strings.TrimRight(class, "0123456789") == k {
			return k
		}
	}
	return Another
}

// nextTo is how the detail of a closed OtherLoad ends.
var nextTo = regexp.MustCompile(`(most of it )(.+)( \(\d+\.\d+\))`)

// Public gives the detail of a closed gate as pages show it. Results that were
// made before names were left out hold them, and are never edited.
func Public(name, detail string) string {
	if name != OtherLoad {
		return detail
	}
	return nextTo.ReplaceAllStringFunc(detail, func(s string) string {
		m := nextTo.FindStringSubmatch(s)
		return m[1] + Process(m[2]) + m[3]
	})
}
