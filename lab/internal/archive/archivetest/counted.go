package archivetest

// CountedDesign is a small experiment, but for its entry and whether it is core.
const CountedDesign = `entry = "%s"
title = "Counted workers"
question = "Are there as many workers as were asked for?"
core = %v
metrics = ["workers"]
budget_s = 60
[topology]
kind = "loopback"
[settings]
route = "/read"
connections = 4
pipelining = 1
[block]
slot_s = 1
rounds = 1
warmup_s = 0
` + CountedWorkers

// CountedWorkers is what small experiments compare and claim.
const CountedWorkers = `[[factors]]
name = "workers"
levels = [1, 2]
[[claims]]
id = "count"
kind = "count"
text = "Workers are counted."
why = "Made up."
metric = "workers"
equals = "workers"
`
