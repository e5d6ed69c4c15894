package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// complaints are the errors among what Hugo prints.
type complaints struct {
	mu    sync.Mutex
	first string
	last  string
	loud  bool
}

// longestComplaint is how many characters of an error are shown.
const longestComplaint = 400

// hear takes a line. Once the page is shown, errors go to the terminal: they are about
// what was changed since.
func (c *complaints) hear(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	line = strict.Line(strings.TrimSpace(line), longestComplaint)
	if line != "" {
		c.last = line
	}
	says, is := strings.CutPrefix(line, "ERROR ")
	if !is {
		return
	}
	if c.first == "" {
		c.first = says
	}
	if c.loud {
		fmt.Fprintf(os.Stderr, "hugo: %s\n", says)
	}
}

// pass sends further errors to the terminal.
func (c *complaints) pass() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loud = true
}

// err is the first error, or else the last line.
func (c *complaints) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.first != "" {
		return errors.New("hugo: " + c.first)
	}
	return errors.New("hugo: " + c.last)
}
