// Runs html-validate over the pages that browse.mjs visits too: all entries, and of each
// other kind of page the first, the heaviest and the last. Pages of a kind come from one
// template, so that the hundredth has the markup of the third. vnu.mjs reads every page.
//
//   validate.mjs DIRECTORY
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { open, sample } from './site.mjs'

const site = open(process.argv[2])
const files = sample(site.pages).map((p) => join(site.root, p.file))
const program = join(dirname(createRequire(import.meta.url).resolve('html-validate/package.json')), 'bin/html-validate.mjs')
const config = fileURLToPath(new URL('htmlvalidate.json', import.meta.url))
const { status } = spawnSync(process.execPath, [program, '--config', config, ...files], { stdio: 'inherit' })
if (status !== 0) process.exit(1)
console.log(`html-validate has nothing to say of ${files.length} of ${site.pages.length} pages`)
