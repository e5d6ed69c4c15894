// Checks the ledger's filters against the claims that they should leave: each choice alone
// and each pair, with JavaScript and without, since a style sheet does the work. With
// JavaScript, the address and the count must agree.
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
    cells: [...r.querySelectorAll('[data-host]')].map((c) => ({ host: c.dataset.host, verdict: c.dataset.verdict })),
    singles: [...r.querySelectorAll('[data-single]')].map((c) => c.dataset.single)
  })))
  if (rows.length === 0) return complain('the ledger has no row')
  const holds = (row, { entry, host, verdict }) => {
    const cells = row.cells.filter((c) => !host || c.host === host)
    return (!entry || row.entry === entry) && (!host || cells.length > 0) &&
      (!verdict || cells.some((c) => c.verdict === verdict) || (!host && row.singles.includes(verdict)))
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
}
