package host

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/proc"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Tools gives versions by tool: of the programs that ran, and of what the
// server was built from, read from the server itself.
func Tools(root string) map[string]string {
	tools := map[string]string{}
	node := exec.Command("node", "--version")
	node.Env = proc.Environment()
	if out, err := node.Output(); err == nil {
		tools["node"] = strings.TrimPrefix(strings.TrimSpace(string(out)), "v")
	}
	var pkg struct{ Version string }
	if text, err := os.ReadFile(filepath.Join(root, "node_modules", "autocannon", "package.json")); err == nil {
		if json.Unmarshal(text, &pkg) == nil && pkg.Version != "" {
			tools["autocannon"] = pkg.Version
		}
	}
	for _, program := range []string{"fiber_server", Loader} {
		info, err := buildinfo.ReadFile(filepath.Join(root, ".tools", "bin", program))
		if err != nil {
			continue
		}
		if program == Loader {
			tools[setting.HTTPLoad] = setting.HTTPLoadVersion
		}
		tools["go"] = strings.TrimPrefix(info.GoVersion, "go")
		for _, d := range info.Deps {
			if name, ok := builtFrom[d.Path]; ok {
				tools[name] = strings.TrimPrefix(d.Version, "v")
			}
		}
	}
	return tools
}

// builtFrom names the modules whose versions matter for a server.
var builtFrom = map[string]string{
	"github.com/gofiber/fiber/v3":     "fiber",
	"github.com/brianvoe/gofakeit/v7": "gofakeit",
	"github.com/valyala/fasthttp":     "fasthttp",
}
