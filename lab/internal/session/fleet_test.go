package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/internal/archive/archivetest"
	"github.com/line-rate/line-rate/lab/internal/experiment"
	"github.com/line-rate/line-rate/lab/internal/fleet"
)

func TestAClientsLimitOnOpenFiles(t *testing.T) {
	x, err := experiment.Parse(counted, []byte(archivetest.CountedDesign("97", true))) // 4 connections
	if err != nil {
		t.Fatal(err)
	}
	const each = 2 + experiment.FilesBeside
	if err := checkFileLimits(x, []fleet.Hello{{Files: each}, {Files: each}}); err != nil {
		t.Error(err)
	}
	err = checkFileLimits(x, []fleet.Hello{{Files: each}, {Files: each - 1}})
	if want := fmt.Sprintf("client 2 needs %d open files, and its hard limit is %d", each, each-1); err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}
