// Checks the ledger's filters against the claims that they should leave: each choice alone
// and each pair, with JavaScript and without, since a style sheet does the work. With
// JavaScript, the address and the count must agree. On a phone entries are folded.
export async function ledger (page, url, scripted, complain) {
  await page.goto(url, { waitUntil: 'load' })
  const names = ['entry', 'host', 'verdict']
  const options = {}
  for (const name of names) {
    options[name] = await page.locator(`#f-${name} option`).evaluateAll((os) => os.map((o) => o.value))
  }
  const rows = await page.locator('.matrix tr[data-entry]').evaluateAll((rs) => rs.map((r) => ({
    entry: r.dataset.entry,
    part: [...document.querySelectorAll('.part')].indexOf(r.closest('.part')),
    cells: [...r.querySelectorAll('[data-host]')].map((c) => ({ host: c.dataset.host, verdict: c.dataset.verdict }))
  })))
  if (rows.length === 0) return complain('the ledger has no row')
  const holds = (row, { entry, host, verdict }) => {
    const cells = row.cells.filter((c) => !host || c.host === host)
    return (!entry || row.entry === entry) && (!host || cells.length > 0) &&
      (!verdict || cells.some((c) => c.verdict === verdict))
  }
  // Grouped by what is chosen, so that each pair is not combined with every open choice.
  const choices = new Map()
  for (const [a, b] of [['entry', 'host'], ['entry', 'verdict'], ['host', 'verdict']]) {
    for (const x of options[a]) for (const y of options[b]) choices.set([x && a + x, y && b + y].filter(Boolean).join(), { [a]: x, [b]: y })
  }
  for (const choice of choices.values()) {
    const want = rows.filter((r) => holds(r, choice))
    const seen = await page.evaluate(([names, choice]) => {
      // As selectOption does, which first waits until the page has been drawn.
      for (const name of names) {
        const select = document.getElementById(`f-${name}`)
        if (select.value === (choice[name] ?? '')) continue
        select.value = choice[name] ?? ''
        for (const event of ['input', 'change']) select.dispatchEvent(new Event(event, { bubbles: true }))
      }
      const visible = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.getClientRects().length > 0).length
      return { rows: visible('.matrix tr[data-entry]'), parts: visible('.part') }
    }, [names, choice])
    // A part without a fitting claim goes with its heading.
    const parts = new Set(want.map((r) => r.part)).size
    if (seen.rows !== want.length || (want.length > 0 && seen.parts < parts)) {
      complain(`${JSON.stringify(choice)}: ${seen.rows} claims of ${seen.parts} entries are shown, not ${want.length} of ${parts}`)
    }
    if (!scripted) continue
    const query = new URLSearchParams(Object.entries(choice).filter(([, value]) => value)).toString()
    if (new URL(page.url()).search !== (query && `?${query}`)) complain(`${JSON.stringify(choice)}: the address is ${page.url()}`)
    const said = await page.locator('#shown').innerText()
    if (said !== `${want.length} of ${rows.length} claims`) complain(`${JSON.stringify(choice)}: the count says ${said}`)
  }
  await folds(page, url, complain)
}

// folds checks the ledger on a phone: no claim is shown until a reader opens its entry, a
// link leads to it, or a filter is chosen; on paper all are.
async function folds (page, url, complain) {
  await page.setViewportSize({ width: 360, height: 780 })
  await page.goto('about:blank')
  await page.goto(url, { waitUntil: 'load' })
  const rows = page.locator('.matrix tr[data-entry]')
  const shown = () => rows.evaluateAll((rs) => rs.filter((r) => r.checkVisibility()).map((r) => r.id))
  const all = await rows.evaluateAll((rs) => rs.map((r) => r.id))
  const first = await shown()
  if (first.length > 0) complain(`on a phone ${first.length} claims are shown before an entry is opened`)
  await page.emulateMedia({ media: 'print' })
  const printed = await shown()
  if (printed.length !== all.length) complain(`${printed.length} of ${all.length} claims are printed`)
  await page.emulateMedia({ media: 'screen' })
  await page.locator('.part summary').first().click()
  const opened = await shown()
  if (!opened.includes(all[0])) complain('on a phone an entry does not open')
  await page.goto(`${url}#${all.at(-1)}`, { waitUntil: 'load' })
  // A browser follows a link some time after it was asked to. Without JavaScript the page
  // cannot say when.
  let led = false
  for (let i = 0; !led && i < 100; i++) { if (i > 0) await page.waitForTimeout(50); led = await rows.last().evaluate((r) => r.checkVisibility()) }
  if (!led) complain(`on a phone a link to #${all.at(-1)} does not open its entry`)
  await page.locator('#f-verdict').evaluate((select) => { select.selectedIndex = 1; select.dispatchEvent(new Event('change', { bubbles: true })) })
  const folded = await rows.evaluateAll((rs) => rs.filter((r) => r.getClientRects().length > 0 && !r.checkVisibility()).length)
  if (folded > 0) complain(`on a phone ${folded} claims that the filter leaves stay folded`)
}
