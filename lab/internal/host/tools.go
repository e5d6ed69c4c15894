package host

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/line-rate/line-rate/lab/internal/leash"
	"github.com/line-rate/line-rate/lab/internal/setting"
)

// Tools gives versions by tool: of the programs that ran, and of what the
// server was built from, read from the server itself.
func Tools(root string) map[string]string {
	tools := map[string]string{}
	node := exec.Command("node", "--version")
	node.Env = leash.Environment()
	if out, err := node.Output(); err == nil {
		tools["node"] = strings.TrimPrefix(strings.TrimSpace(string(out)), "v")
	}
	var pkg struct{ Version string }
	if text, err := os.ReadFile(filepath.Join(root, "node_modules", "autocannon", "package.json")); err == nil {
		if json.Unmarshal(text, &pkg) == nil && pkg.Version != "" {
			tools["autocannon"] = pkg.Version
		}
	}
	for _, program := range []string{"fiber_server", "http_load"} {
		info, err := buildinfo.ReadFile(filepath.Join(root, ".tools", "bin", program))
		if err != nil {
			continue
		}
		if program == setting.HTTPLoad {
			tools[program] = setting.HTTPLoadVersion
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

// kernel names the settings that affect connections, queues and the
// distribution of work over cores.
var kernel = []string{
	"net.core.somaxconn",
	"net.core.netdev_max_backlog",
	"net.core.rps_sock_flow_entries",
	"net.ipv4.ip_local_port_range",
	"net.ipv4.tcp_congestion_control",
	"net.ipv4.tcp_fin_timeout",
	"net.ipv4.tcp_max_syn_backlog",
	"net.ipv4.tcp_rmem",
	"net.ipv4.tcp_tw_reuse",
	"net.ipv4.tcp_wmem",
}

// Kernel reads those settings, and those of the CPU clock and the clock source.
func Kernel() map[string]string {
	set := map[string]string{}
	read := func(name, path string) {
		if b, err := os.ReadFile(path); err == nil {
			set[name] = strings.Join(strings.Fields(string(b)), " ")
		}
	}
	for _, k := range kernel {
		read(k, "/proc/sys/"+strings.ReplaceAll(k, ".", "/"))
	}
	read("osrelease", "/proc/sys/kernel/osrelease")
	read("clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource")
	read("scaling_governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	read("transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled")
	if limit, ok := OpenFiles(); ok {
		set["nofile"] = fmt.Sprint(limit)
	}
	return set
}
