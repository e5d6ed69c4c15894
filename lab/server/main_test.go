package main

import (
	"testing"

	"github.com/line-rate/line-rate/lab/internal/program/programtest"
)

func TestMain(m *testing.M) { programtest.Main(m, map[string]string{"fiber_server": "."}) }
