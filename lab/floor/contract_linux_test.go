package main

import (
	"testing"

	"github.com/line-rate/line-rate/lab/internal/answer"
	"github.com/line-rate/line-rate/lab/server/catalog/contract"
)

// What the Fiber server must do on its routes, this one must, on one thread and on two.
func TestContract(t *testing.T) {
	for _, workers := range []int{1, 2} {
		contract.Contract(t, answer.Fiber, serveWith(t, func(s *settings) { s.workers = workers }).addr)
	}
}
