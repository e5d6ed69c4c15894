package main

import (
	"strings"
	"testing"

	"github.com/line-rate/line-rate/lab/server/catalog/contract"
)

// Every stack in one process, with either source of products, and prefork's workers.
func TestContract(t *testing.T) {
	for _, stack := range []string{stackFiber, stackFastHTTP, stackNetHTTP} {
		for _, index := range []string{indexPool, indexGofakeit} {
			t.Run(stack+" "+index, func(t *testing.T) {
				_, url := serveStack(t, func(s *settings) { s.stack, s.index = stack, index })
				contract.Contract(t, "fiber", strings.TrimPrefix(url, "http://"))
			})
		}
	}
	t.Run("prefork", func(t *testing.T) {
		p, _ := startMaster(t)
		contract.Contract(t, "fiber", p.addr)
	})
}
