// A journal made for a test: the real site, with made-up hosts, designs and runs added.
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const repo = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
export const hugo = join(repo, '.tools/bin/hugo')
export const pad = (n) => String(n).padStart(4, '0')
export const write = (file, text) => { mkdirSync(dirname(file), { recursive: true }); writeFileSync(file, text) }
export const run = (command, args, options) => {
  const r = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 26, ...options })
  if (r.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${r.stdout}${r.stderr}${r.error ?? ''}`)
}

// timed runs a command, and gives what it printed, its wall and CPU seconds, and its peak of
// memory in bytes; the last two come from /proc, if there is one.
export function timed (command, args, options) {
  return new Promise((resolve, reject) => {
    const started = process.hrtime.bigint()
    const child = spawn(command, args, options)
    let out = ''
    child.stdout.on('data', (d) => { out += d })
    child.stderr.on('data', (d) => { out += d })
    let cpu = NaN
    let memory = NaN
    const look = setInterval(() => {
      try {
        const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ')
        const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1])
        if (peak > 0) { memory = peak * 1024; cpu = (Number(stat[11]) + Number(stat[12])) / 100 }
      } catch { /* gone, or not Linux */ }
    }, 20)
    child.on('close', (status) => {
      clearInterval(look)
      if (status !== 0) { reject(new Error(`${command} ${args.join(' ')}: ${out}`)); return }
      resolve({ seconds: Number(process.hrtime.bigint() - started) / 1e9, cpu, memory, out })
    })
  })
}

// scratch makes an empty directory, which the caller removes.
export const scratch = (name) => mkdtempSync(join(tmpdir(), `${name}-`))

// copy copies the real site to dir.
export function copy (dir) {
  for (const f of ['config.toml', 'content', 'layouts', 'assets', 'static', 'data', 'derived', 'lab/experiments', 'lab/servers.toml', 'CITATION.cff']) {
    if (existsSync(join(repo, f))) cpSync(join(repo, f), join(dir, f), { recursive: true })
  }
}

export const addHost = (dir, id, name) => write(join(dir, `data/hosts/${id}.json`), JSON.stringify({ schema_version: 2, id, name, cpu: 'None', arch: 'amd64', cores: 2, memory_bytes: 8e9, os: 'linux', kernel: '6.1.0' }))

// figures are what an entry about such an experiment declares.
export const figures = (exp) => `
[[figures]]
name = "cost"
kind = "lines"
title = "Cost of a request"
exp = "${exp}"
metric = "server_cpu_per_request_s"
over = "connections"

[[figures]]
name = "cost-falls"
kind = "ratios"
title = "Against the bar"
exp = "${exp}"
claim = "cost-falls"
`

// design is an experiment's file: claims on CPU time, over numbers of connections. claims
// are texts in TOML.
export const design = ({ entry, title, question, metrics, levels, rounds, claims }) => `entry = "${entry}"
title = "${title}"
question = "${question}"
core = false
metrics = ${JSON.stringify(metrics)}
budget_s = 60

[topology]
kind = "loopback"

[settings]
route = "/read"
prefork = true
index = "pool"
workers = 2
generator = "http_load"
pipelining = 1
client_workers = 0

[[factors]]
name = "connections"
levels = [${levels.join(', ')}]

[block]
slot_s = 0.1
rounds = ${rounds}
warmup_s = 0.1

${claims.map((c) => `[[claims]]\n${c.trim()}\n`).join('\n')}`

// costFalls is a claim that both tests make.
export const costFalls = (why) => `
id = "cost-falls"
kind = "ratio"
text = "A request costs less with more connections."
why = "${why}"
metric = "server_cpu_per_request_s"
over = "connections"
at_most = 0.9`

export function makeUp (dir, plans) {
  run('go', ['run', '-trimpath', './cmd/madeup', dir], { cwd: join(repo, 'lab'), input: plans.map((p) => JSON.stringify(p) + '\n').join('') })
}

// decide makes the planned runs up, and derives what follows from them. A plan is what
// lab/cmd/madeup reads.
export function decide (dir, plans) {
  makeUp(dir, plans)
  run(join(repo, '.tools/bin/lab'), ['derive'], { cwd: dir })
}
