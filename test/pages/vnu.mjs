// Runs the Nu HTML checker over a built site: pages, the style sheet, SVG files. It knows
// the standard's content models and CSS values, which html-validate does not.
//
//   vnu.mjs DIRECTORY
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const [root] = process.argv.slice(2)
if (!root) { console.error('usage: vnu.mjs DIRECTORY'); process.exit(2) }

// Messages that are wrong, by how they begin, each with the reason. They end in the name
// of a file.
const wrong = new Map([
  ['Resource violates Content Security Policy (meta tag): external stylesheet “/line-rate/', "a file has no origin for 'self' to mean; browse.mjs holds pages to their policy in a browser"],
  ['Resource violates Content Security Policy (meta tag): external script “/line-rate/', 'likewise'],
  ['Trailing slash on void elements', 'figures are written as XML, which needs it'],
  ['CSS: “container-type”: Property “container-type” doesn\'t exist', 'it does: CSS Containment 3'],
  ['CSS: “max-width”: Parse Error', 'cqi is a unit of the same'],
  ['CSS: “paint-order”: Property “paint-order” doesn\'t exist', 'it does: SVG 2, on text'],
  ['CSS: “vector-effect”: Property “vector-effect” doesn\'t exist', 'likewise, on shapes'],
  ['Inline script violates Content Security Policy (meta tag): blocked by “script-src” directive', 'linked data is no script, and scripts.mjs has a real one refused']
])

const java = spawnSync('java', ['-version'])
if (java.error || java.status !== 0) {
  console.log('skip: no java, which the Nu HTML checker runs on (Debian and Ubuntu: apt-get install default-jre-headless)')
  process.exit(0)
}
const jar = createRequire(import.meta.url).resolve('vnu-jar/build/dist/vnu.jar')
// It runs too briefly for Java's second compiler to be worth its cost; the code of the
// first needs a larger stack. With room for many new objects it seldom collects garbage.
const run = spawnSync('java', ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xss8m', '-Xmn400m', '-jar', jar, '--format', 'json', '--exit-zero-always', '--also-check-css', '--also-check-svg', '--skip-non-html', resolve(root)], { encoding: 'utf8', maxBuffer: 1 << 28 })
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
  const known = [...wrong.keys()].find((w) => m.message.startsWith(w))
  if (known) { used.add(known); continue }
  left++
  const file = m.url ? relative(resolve(root), fileURLToPath(m.url)) : ''
  console.log(`${file}:${m.lastLine ?? ''}:${m.lastColumn ?? ''}: ${m.subType ?? m.type}: ${m.message}`)
}
for (const m of wrong.keys()) if (!used.has(m)) console.log(`no page has this message any more; take it out of vnu.mjs: ${m}`)
if (left > 0) process.exit(1)
console.log(`the Nu HTML checker has nothing to say, but for ${used.size} messages known to be wrong`)
