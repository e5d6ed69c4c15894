package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/line-rate/line-rate/lab/internal/strict"
)

// complaints are the errors among what Hugo prints.
type complaints struct {
	mu          sync.Mutex
	first, last string
	loud        atomic.Bool // whether errors go to the terminal
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
	c.first = cmp.Or(c.first, says)
	if c.loud.Load() {
		fmt.Fprintf(os.Stderr, "hugo: %s\n", says)
	}
}

// err is the first error, or else the last line.
func (c *complaints) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.New("hugo: " + cmp.Or(c.first, c.last))
}
