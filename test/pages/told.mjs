// The page that linerate compare writes by itself (--html), as the golden file of its test has
// it: html-validate, and axe in a real browser, narrow and wide, light and dark. It asks for
// nothing, does not scroll sideways, and can be read without JavaScript.
//
//   told.mjs FILE
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { axe, look } from './axe.mjs'

const file = resolve(process.argv[2])
const program = join(dirname(createRequire(import.meta.url).resolve('html-validate/package.json')), 'bin/html-validate.mjs')
const config = fileURLToPath(new URL('htmlvalidate.json', import.meta.url))
if (spawnSync(process.execPath, [program, '--config', config, file], { stdio: 'inherit' }).status !== 0) process.exit(1)
if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.log('skip: the pinned browser is for Linux on x86-64')
  process.exit(0)
}

const { default: chromium } = await import('@sparticuz/chromium')
const { chromium: playwright } = await import('playwright-core')
const browser = await playwright.launch({ executablePath: await chromium.executablePath(), args: ['--no-sandbox', '--disable-gpu'], headless: true })
const complaints = []
try {
  for (const [width, colorScheme, what] of [[1280, 'light', 'full'], [360, 'light', 'narrow'], [360, 'dark', 'colours'], [1280, 'dark', 'colours']]) {
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme })
    const page = await context.newPage()
    const say = (of) => complaints.push(`${width} px, ${colorScheme}: ${of}`)
    page.on('console', (m) => { if (['error', 'warning'].includes(m.type())) say(m.text()) })
    page.on('request', (r) => { if (r.url() !== pathToFileURL(file).href) say(`asks for ${r.url()}`) })
    await page.goto(pathToFileURL(file).href)
    await page.evaluate(axe)
    await look({ page, say }, what)
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    if (over > 0) say(`it scrolls sideways by ${over} px`)
    await context.close()
  }
  const plain = await (await browser.newContext({ javaScriptEnabled: false })).newPage()
  await plain.goto(pathToFileURL(file).href)
  if (await plain.locator('h1').count() !== 1 || await plain.locator('svg[role=img]').count() < 2) complaints.push('no JavaScript: no verdict, or no pictures')
} finally {
  await browser.close()
}
for (const c of complaints) console.log(c)
if (complaints.length > 0) process.exit(1)
console.log(`${process.argv[2]}: nothing to complain of`)
