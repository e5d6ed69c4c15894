// Holds prose against the rules in tools/vale: Markdown, help texts, and Go's comments and messages. Prints each
// place that breaks a rule, and fails if there is one. The rules are Vale's, and make vale runs that program
// with them. Building it takes a minute of CPU time and a C compiler, so make test reads the rules here.
// It also counts the words of stories and documents, which have a limit.
//
//   words.mjs FILE…
import { readdirSync, readFileSync } from 'node:fs'

const files = process.argv.slice(2)
if (files.length === 0) { console.error('usage: words.mjs FILE…'); process.exit(2) }

// A rule file has keys, lists and maps of one level; a value may be in quotes.
const plain = (s) => /^'.*'$/.test(s) ? s.slice(1, -1).replaceAll("''", "'") : s.replace(/^"(.*)"$/, '$1')
function rule (path) {
  const out = {}
  let under
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const m = /^( *)(?:- )?(?:((?:[^:'"]|:(?! |$))+):(?: |$))?(.*)$/.exec(line)
    if (!line.trim() || line.startsWith('#')) continue
    if (m[1] === '') { under = m[2]; out[under] = m[3] ? plain(m[3]) : [] } else out[under].push([m[2] && plain(m[2]), plain(m[3])])
  }
  return out
}

// What a rule finds in a text: its message for each place.
const kinds = {
  substitution: (r) => {
    const all = r.swap.map(([from, to]) => [new RegExp(`\\b(?:${from})\\b`, 'gi'), to])
    return (text) => all.flatMap(([re, to]) => [...text.matchAll(re)].map((m) => say(r, to, m[0])))
  },
  existence: (r) => {
    const all = r.tokens.map(([, token]) => new RegExp(token.replace(/^\\A/, '^'), r.ignorecase ? 'i' : ''))
    return (text) => all.flatMap((re) => { const m = re.exec(text); return m ? [say(r, m[0])] : [] })
  },
  occurrence: (r) => (text) => (text.match(new RegExp(r.token, 'g')) ?? []).length > Number(r.max) ? [say(r)] : []
}
const say = (r, ...words) => words.reduce((s, w) => s.replace('%s', w), r.message)
const here = new URL('vale/LineRate/', import.meta.url)
const rules = readdirSync(here).map((f) => {
  const r = rule(new URL(f, here))
  return { name: f.replace('.yml', ''), find: kinds[r.extends](r) }
})

// Paragraphs of a Markdown text, each with its line: no code, no front matter, no shortcode. Lines keep their numbers.
function * markdown (text) {
  const blank = (m) => m.replace(/[^\n]/g, ' ')
  text = text.replace(/^(---|\+\+\+)\n[\s\S]*?\n\1\n/, blank).replace(/^ *(```+|~~~+)[\s\S]*?^ *\1/gm, blank)
    .replace(/\{\{[<%][\s\S]*?[%>]\}\}/g, 'N').replace(/\{(#|caption=)[^}]*\}/g, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^(\t| {4}).*$/gm, '').replace(/^ {2}\S.* {2,}\S.*$/gm, '')
  let part = ''
  let at = 1
  const lines = text.split('\n')
  for (let i = 0; i <= lines.length; i++) {
    const line = lines[i] ?? ''
    const begins = /^\s*([-*] |\d+\. |#+ |> |\||: )/.test(line)
    if ((line.trim() === '' || begins) && part) { yield [at, part]; part = '' }
    if (line.startsWith('|')) { for (const cell of line.split(/(?<!\\)\|/)) yield [i + 1, cell, true] } else {
      if (!part) at = i + 1
      part += line.replace(/^\s*([-*]|\d+\.|#+|>|:) /, '') + '\n'
      if (line.startsWith('#')) { yield [at, part]; part = '' }
    }
  }
}

// Comments, help texts and other strings of a Go file.
function * go (text) {
  const token = /\/\/(.*)|\/\*([\s\S]*?)\*\/|"((?:[^"\\\n]|\\.)*)"|`([^`]*)`|'(?:[^'\\\n]|\\.)*'/g
  let comment = ''
  let from = 0
  let last = 0
  let line = 1
  let at = 0
  // What an example prints is no prose.
  const flush = function * () {
    for (const [n, part] of markdown(comment.replace(/^Output:[\s\S]*/m, ''))) yield [from + n - 1, part]
    comment = ''
  }
  for (const m of text.matchAll(token)) {
    line += text.slice(at, m.index).split('\n').length - 1
    at = m.index
    if (m[1] !== undefined) {
      const beside = text.slice(text.lastIndexOf('\n', m.index) + 1, m.index).trim()
      if (beside) { yield * flush(); yield [line, m[1]]; continue }
      if (comment && line !== last + 1) yield * flush()
      if (!comment) from = line
      comment += m[1].replace(/^(\S+:\S.*| )/, '') + '\n'
      last = line
      continue
    }
    yield * flush()
    if (m[2] !== undefined) for (const [n, part] of markdown(m[2])) yield [line + n - 1, part]
    const helps = [...(m[4] ?? '').matchAll(/help:"((?:[^"\\]|\\.)*)"/g)]
    for (const [, help] of helps) yield [line, help]
    const said = m[3] ?? (helps.length ? '' : m[4]) ?? ''
    if (said.split(' ').length > 2) yield [line, said, true]
  }
  yield * flush()
}

// Messages and cells are often parts of sentences, so only their words are checked.
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' })
let found = 0
let sentences = 0
let words = 0
for (const f of files) {
  const text = readFileSync(f, 'utf8')
  for (const [line, part, piece] of f.endsWith('.go') ? go(text) : markdown(text)) {
    const read = part.replace(/`[^`\n]*`/g, 'X').replace(/[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}/g, '').replace(/^[ \t]+|[ \t]+$/gm, '')
    for (const { segment, index } of segmenter.segment(read.replaceAll('\n', ' '))) {
      const count = (segment.match(/[\p{L}\d][^\s]*/gu) ?? []).length
      if (count > 3 && !piece) { sentences++; words += count }
      const at = line + read.slice(0, index).split('\n').length - 1
      for (const { name, find } of rules) {
        if (piece && name !== 'Words') continue
        for (const what of find(segment.trim())) { found++; console.log(`${f}:${at}: ${name}: ${what}`) }
      }
    }
  }
}

// Words as a reader has them: a shortcode is one word; front matter, addresses and rules of tables are none. A story ends
// where its evidence begins. Documents are all other texts but the home page, and the errata, which no limit may shorten.
const count = (text) => text.replace(/^(---|\+\+\+)\n[\s\S]*?\n\1\n/, '').replace(/\{\{[<%][\s\S]*?[%>]\}\}/g, ' N ')
  .replace(/\]\([^)]*\)/g, ']').replace(/\{#\S*/g, '').split(/\s+/).filter((w) => /[\p{L}\d]/u.test(w)).length
const story = 900
const limits = [
  { name: 'stories', most: 13000, of: /^content\/journal\/(?!_)/ },
  { name: 'documents', most: 12000, of: /^([A-Z]+\.md$|docs\/|content\/(?!_|errata)[^/]+$|content\/claims\/)/ }
]
for (const { name, most, of } of limits) {
  const counts = files.filter((f) => of.test(f)).map((f) => [f, count(readFileSync(f, 'utf8').split('\n## Evidence\n')[0])])
  const sum = counts.reduce((n, [, c]) => n + c, 0)
  console.log(`${name}: ${sum} words of at most ${most}`)
  if (sum > most) found++
  for (const [f, c] of counts) if (name === 'stories' && c > story) { found++; console.log(`${f}: ${c} words before the evidence, of at most ${story}`) }
}
console.log(`${files.length} files, ${sentences} sentences of ${(words / Math.max(1, sentences)).toFixed(1)} words in the mean, ${found} to mend`)
if (found > 0) process.exit(1)
