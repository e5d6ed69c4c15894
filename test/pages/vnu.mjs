// The Nu HTML checker over a built site: pages, the style sheet, SVG files. It
// knows the standard's content models and CSS values, which html-validate does
// not.
//
//   vnu.mjs DIRECTORY
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const [root] = process.argv.slice(2)
if (!root) { console.error('usage: vnu.mjs DIRECTORY'); process.exit(2) }

// Messages that are wrong, word for word, each with why. None may be a pattern.
const wrong = new Map([])

const java = spawnSync('java', ['-version'])
if (java.error || java.status !== 0) {
  console.log('skip: no java, which the Nu HTML checker runs on (Debian and Ubuntu: apt-get install default-jre-headless)')
  process.exit(0)
}
const jar = createRequire(import.meta.url).resolve('vnu-jar/build/dist/vnu.jar')
const run = spawnSync('java', ['-jar', jar, '--format', 'json', '--exit-zero-always', '--also-check-css', '--also-check-svg', '--skip-non-html', resolve(root)], { encoding: 'utf8', maxBuffer: 1 << 28 })
let messages
try {
  messages = JSON.parse(run.stderr).messages
} catch {
  console.log(`vnu did not run: ${run.stderr || run.error}`)
  process.exit(1)
}
const used = new Set()
let left = 0
for (const m of messages) {
  if (wrong.has(m.message)) { used.add(m.message); continue }
  left++
  const file = m.url ? relative(resolve(root), fileURLToPath(m.url)) : ''
  console.log(`${file}:${m.lastLine ?? ''}:${m.lastColumn ?? ''}: ${m.subType ?? m.type}: ${m.message}`)
}
for (const m of wrong.keys()) if (!used.has(m)) console.log(`no page has this message any more; take it out of vnu.mjs: ${m}`)
if (left > 0 || used.size < wrong.size) process.exit(1)
console.log(`the Nu HTML checker has nothing to say${wrong.size > 0 ? `, but for ${wrong.size} messages known to be wrong` : ''}`)
