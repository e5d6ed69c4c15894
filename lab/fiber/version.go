package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// version names everything that can change a figure: Go, and the modules that
// handle requests.
func version() string {
	v := []string{"fiber_server"}
	var modules []string
	info, ok := debug.ReadBuildInfo()
	if ok {
		v = append(v, info.Main.Version)
		for _, dep := range info.Deps {
			switch dep.Path {
			case "github.com/gofiber/fiber/v3":
				modules = append(modules, "fiber "+dep.Version)
			case "github.com/valyala/fasthttp":
				modules = append(modules, "fasthttp "+dep.Version)
			case "github.com/brianvoe/gofakeit/v7":
				modules = append(modules, "gofakeit "+dep.Version)
			}
		}
	}
	v = append(v, runtime.Version())
	return fmt.Sprintf("%s %s", strings.Join(v, " "), strings.Join(modules, " "))
}
