package run

var pieceRows = map[string][]row[*int]{}
var processRows = map[string][]row[*int]{}
