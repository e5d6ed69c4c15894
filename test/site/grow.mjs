// What a record costs as machines join it: the journal's core designs, each with a made-up
// run on every machine. It asserts nothing; it prints what checking, deriving and building
// take, and how large the data and the site are.
//
//   grow.mjs [--keep] [N…]     N machines: 10 100 1000 unless given
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { addHost, copy, hugo, makeUp, pad, repo, scratch, timed } from './journal.mjs'

const args = process.argv.slice(2)
const keep = args.includes('--keep')
const sizes = args.filter((a) => /^\d+$/.test(a)).map(Number)
if (sizes.length === 0) sizes.push(10, 100, 1000)
const host = (n) => `bench-host-${pad(n)}`

// core has the core designs' names, and the levels of each one's first factor.
const core = readdirSync(join(repo, 'lab/experiments')).filter((f) => f.endsWith('.toml')).map((f) => {
  const text = readFileSync(join(repo, 'lab/experiments', f), 'utf8')
  const levels = /\[\[factors\]\][^[]*?levels = \[([^\]]*)\]/.exec(text)?.[1].split(',').map((l) => l.trim().replaceAll('"', ''))
  return { name: f.replace('.toml', ''), levels, core: /^core = true$/m.test(text) }
}).filter((x) => x.core)

const megabytes = (dir) => readdirSync(dir, { recursive: true, withFileTypes: true }).reduce((n, f) => n + (f.isFile() ? statSync(join(f.parentPath, f.name)).size : 0), 0) / 1e6
const row = (cells) => console.log(cells.map(([v, w]) => String(v).padStart(w)).join(''))
row([['machines', 8], ['step', 8], ['seconds', 9], ['CPU s', 8], ['peak MB', 9], ['MB of data', 12], ['site', 8]])
const home = scratch('grow')
try {
  for (const n of sizes) {
    const dir = join(home, String(n))
    copy(dir)
    const plans = []
    for (let i = 0; i < n; i++) {
      addHost(dir, host(i), `Bench host ${i}`)
      for (const [k, x] of core.entries()) {
        plans.push({ experiment: x.name, host: host(i), started: new Date(Date.UTC(2026, 0, 1) + (i * core.length + k) * 6e5).toISOString(), seed: i * core.length + k + 1, blocks: 12, ended: 'decided', costs: Object.fromEntries(x.levels.map((l) => [l, 1])) })
      }
    }
    makeUp(dir, plans)
    const steps = [
      ['check', join(repo, '.tools/bin/lab'), ['check']],
      ['derive', join(repo, '.tools/bin/lab'), ['derive']],
      ['site', hugo, ['--panicOnWarning', '--noBuildLock', '--ignoreCache', '--destination', join(dir, 'public')]]
    ]
    for (const [name, command, args] of steps) {
      const b = await timed(command, args, { cwd: dir, env: { GOGC: '200', GOMEMLIMIT: '4GiB', ...process.env } })
      row([[n, 8], [name, 8], [b.seconds.toFixed(1), 9], [b.cpu.toFixed(1), 8], [(b.memory / 1e6).toFixed(0), 9],
        [name === 'check' ? megabytes(join(dir, 'data')).toFixed(1) : '', 12], [name === 'site' ? megabytes(join(dir, 'public')).toFixed(0) : '', 8]])
    }
    if (!keep) rmSync(dir, { recursive: true })
  }
  if (keep) console.log(`sites kept in ${home}`)
} finally {
  if (!keep) rmSync(home, { recursive: true, force: true })
}
