// Text in data files stays text on every page. The golden pages' site is built from data
// with markup in each field that takes free text, and in ids that the lab would refuse;
// no page, feed or JSON-LD may contain any of it as markup.
//
//   test/site/escape.mjs
//
// Fields are found by the published schemas: every string whose only form is that of one
// line. Where a schema refuses markup, tests beside the lab's code check it.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Parser } from 'htmlparser2'

const repo = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const copy = mkdtempSync(join(tmpdir(), 'escape-'))
process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
for (const f of ['config.toml', 'content', 'layouts', 'assets', 'static', 'test/site/config.toml', 'test/site/fixture']) cpSync(join(repo, f), join(copy, f), { recursive: true })
const fixture = join(copy, 'test/site/fixture')

// The mark that is appended to each text, numbered by field: the end of an attribute and
// of an element, an element, the same as entities, and a Markdown link.
const fields = []
const mark = (field) => {
  if (!fields.includes(field)) fields.push(field)
  const call = `alert(${fields.indexOf(field)})`
  return `"'></script><img src=x onerror=${call}>&lt;img src=x onerror=${call}&gt;[x](javascript:${call})`
}

const run = (command, args, options) => {
  const r = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 28, ...options })
  if (r.status === 0) return
  console.error(`${command} ${args.join(' ')}:\n${r.stdout}${r.stderr}`)
  process.exit(1)
}
const json = (dir) => readdirSync(join(fixture, dir), { recursive: true }).filter((f) => f.endsWith('.json')).map((f) => join(fixture, dir, f))
const edit = (file, change) => writeFileSync(file, change(readFileSync(file, 'utf8')))
const lab = () => run(join(repo, '.tools/bin/lab'), ['derive'], { cwd: fixture })

// The lab parses printed figures as numbers, and refuses a command line that a shell could
// act on, which the schema of version 1 does not say.
const read = /\/(printed|commands)\//
// In version 2 the words of a bound are those that the figures give; the runs of version 1
// have them free.
const given = (at, root) => at.endsWith('/bound_why') && root.$id.endsWith('results-2.json')
// free appends a mark to each free text of a value, by its schema. The name of a key is
// free if its object has no fields of its own.
function free (value, schema, root, at) {
  if (!schema) return value
  if (schema.$ref) schema = root.$defs[schema.$ref.split('/').at(-1)]
  if (typeof value === 'string') return schema.type === 'string' && schema.pattern?.includes('\\x00') && !read.test(at) && !given(at, root) ? value + mark(at) : value
  if (Array.isArray(value)) return value.map((v) => free(v, schema.items, root, `${at}/*`))
  if (!value || typeof value !== 'object') return value
  const out = {}
  for (const [k, v] of Object.entries(value)) {
    const own = schema.properties?.[k]
    out[k] = free(v, own ?? schema.additionalProperties ?? {}, root, own || typeof v !== 'string' ? `${at}/${k}` : `${at}/NAME`)
  }
  if (schema.additionalProperties?.type === 'string' && !schema.propertyNames) out[`made up${mark(`${at} (name)`)}`] = '1'
  return out
}
// Numbers as large as a seed would lose digits, so they are turned into texts meanwhile.
const parse = (text) => JSON.parse(text.replace(/("seed": )(\d+)/g, '$1"SEED$2"'))
const print = (value) => JSON.stringify(value, null, 2).replace(/"SEED(\d+)"/g, '$1') + '\n'

lab() // writes the schemas
for (const [dir, schema] of [['data/results', 'results'], ['data/hosts', 'host']]) {
  for (const file of json(dir)) {
    edit(file, (text) => {
      const value = parse(text)
      // A profile of the second version has more texts than the fixture's.
      if (file.endsWith('0000bbbb.json') && schema === 'host') Object.assign(value, { cpu_version: 'made/up', caches: 'L2 1M x1' })
      const root = JSON.parse(readFileSync(join(fixture, 'derived/schema', `${schema}-${value.schema_version}.json`), 'utf8'))
      return print(free(value, root, root, dir))
    })
  }
}
// Designs and texts have no schema; these are the names of their free texts.
for (const dir of ['lab/experiments', 'data/texts']) {
  for (const f of readdirSync(join(fixture, dir))) {
    edit(join(fixture, dir, f), (text) => text.replace(/^(title|question|planned|text|why|place|note|says) = "(.*)"$/gm,
      (_, name, value) => `${name} = "${value}${mark(`${dir}: ${name}`).replaceAll('"', '\\"')}"`))
  }
}
lab()

// Names of functions come from profiles in pprof's own format. The lab refuses any other
// form of ids, of names of gates and bounds, of command lines, commits and printed figures. So these marks are
// put into the files that the lab derives.
const frame = mark('data/flames: n')
for (const file of json('derived/data/flames')) edit(file, (text) => text.replace(/"n":"(?!all")((?:[^"\\]|\\.)*)"/g, (_, name) => `"n":${JSON.stringify(JSON.parse(`"${name}"`) + frame)}`))
const refused = (dir, ...forms) => {
  // Profiles are in files that are named by their condition's id, so those ids stay.
  for (const file of json(dir).filter((f) => !f.includes('93-lock'))) {
    edit(file, (text) => forms.reduce((t, [field, form]) => t.replace(form, (_, kept) => `${kept}${JSON.stringify(mark(field)).slice(1)}`), text))
  }
}
const id = ['a condition’s id', /("(?:id|condition|control_of)": ?"c\d+)"/g]
const ofTrials = [['a gate’s name', /("gate": ?"[a-z0-9-]+)"/g], ['a bound', /("bound": ?"[a-z-]+)"/g]]
const ofVerdicts = [['a figure in words', /("(?:text|interval|percent|change|line_share)": ?"[^"]+)"/g],
  ['a level in words', /((?<="shown": ?\{[^}]*)"[a-z_]+": ?"[^"]*)"/g],
  ['a table’s cell', /("(?:levels|medians|intervals|cells|slots)": ?\[\s*"[^"]+)"/g], ['a table’s unit', /("unit": ?"[^"]*)"/g], ['a table’s bounds', /("bounds": ?"[^"]+)"/g]]
const lines = [['a command line', /("commands": ?\[\s*"[^"]+)"/g], ['a commit', /("(?:commit|written)": ?"[0-9a-f]+)"/g]]
refused('data/results', id, ...ofTrials)
refused('derived/data/verdicts', id, ...ofVerdicts)
refused('derived/pages/runs', id, ...ofTrials, ...ofVerdicts, ...lines)
refused('derived/data/claims', ...lines)
refused('derived/data/audits', ['an audit’s id', /("id": ?"[a-z]+-c\d+-[^"]*)"/g], ['an audit’s printed figure', /("printed": "[^"]+)"/g])

run(join(repo, '.tools/bin/hugo'), ['--panicOnWarning', '--noBuildLock', '--source', copy, '--config', 'config.toml,test/site/config.toml', '--destination', join(copy, 'public')])

const faults = []
const reached = new Set()
const seen = (text) => { for (const [, n] of text.matchAll(/alert\((\d+)\)/g)) reached.add(fields[n]) }
function check (where, html) {
  const fault = (what) => { if (!faults.some((f) => f.startsWith(`${where}: ${what}`.slice(0, 120)))) faults.push(`${where}: ${what}`) }
  let script = null
  const parser = new Parser({
    onopentag (name, a) {
      if (a.src === 'x') fault(`an element of a text, of ${fields[/\d+/.exec(a.onerror)?.[0]]}`)
      for (const [k, v] of Object.entries(a)) {
        if (/^on/.test(k)) fault(`an attribute ${k}="${v}"`)
        if (/^(href|src|action|xlink:href)$/.test(k) && /^\s*javascript:/i.test(v)) fault(`a link that is a program: ${v}`)
        // After an attribute that a text has ended, the rest of the mark has no valid
        // attribute name.
        if (/['"<>&]/.test(k)) fault(`an attribute that a text broke: ${k}`)
        seen(v)
      }
      script = name === 'script' ? { json: /json/.test(a.type ?? ''), text: '' } : null
    },
    ontext (t) { if (script) script.text += t; else seen(t) },
    onclosetag (name) {
      if (name !== 'script' || !script) return
      seen(script.text)
      if (script.json) { try { JSON.parse(script.text) } catch (e) { fault(`JSON-LD that is none: ${e.message}`) } } else if (/alert\(/.test(script.text)) fault('a text within a program')
      script = null
    }
  })
  parser.end(html)
}
let pages = 0
for (const f of readdirSync(join(copy, 'public'), { recursive: true })) {
  if (!/\.(html|xml|svg|css)$/.test(f)) continue
  pages++
  const text = readFileSync(join(copy, 'public', f), 'utf8')
  if (f.endsWith('.html')) { check(f, text); continue }
  if (/\.(svg|css)$/.test(f)) { if (/alert\(/.test(text)) faults.push(`${f}: a text in what is no page`); continue }
  // A feed's readers unescape its texts once, and read those of type html as pages.
  let html = null
  new Parser({
    onopentag (name, a) {
      if (a.src === 'x' || /^(img|script)$/.test(name)) faults.push(`${f}: an element ${name}`)
      for (const v of Object.values(a)) seen(v)
      html = a.type === 'html' ? '' : null
    },
    ontext (t) { seen(t); if (html !== null) html += t },
    onclosetag () { if (html) check(`${f}, its text`, html); html = null }
  }, { xmlMode: true }).end(text)
}

for (const f of faults) console.log(f)
if (faults.length > 0) process.exit(1)
if (process.argv.includes('--fields')) for (const f of fields) console.log(`${reached.has(f) ? 'shown ' : 'nowhere'} ${f}`)
// A field whose mark is on no page was not tested. The fields listed here are.
const shown = ['data/hosts/name', 'data/hosts/cpu_version', 'data/hosts/caches', 'data/results/warnings/*', 'data/results/provenance/tools/NAME', 'data/results/provenance/generator',
  'a command line', 'a commit', 'data/results/trials/*/reasons/*/detail', 'data/results/not_applicable',
  'lab/experiments: title', 'lab/experiments: question', 'lab/experiments: text', 'lab/experiments: why', 'lab/experiments: planned',
  'data/texts: place', 'data/texts: note', 'data/texts: says', 'data/flames: n', 'a condition’s id', 'a gate’s name', 'a bound',
  'a figure in words', 'a level in words', 'a table’s cell', 'a table’s unit', 'a table’s bounds', 'an audit’s id', 'an audit’s printed figure']
const missing = shown.filter((f) => !reached.has(f))
if (missing.length > 0) { console.log(`on no page, and so not tested: ${missing.join(', ')}`); process.exit(1) }
console.log(`${pages} pages and feeds show ${reached.size} fields' markup as text (${basename(fileURLToPath(import.meta.url))})`)
