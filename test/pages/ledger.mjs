// Checks the ledger's filters against the rows that they should leave: each choice alone
// and each pair, with JavaScript and without, since a style sheet does the work. With
// JavaScript, the address and the count must agree.
export async function ledger (page, url, scripted, complain) {
  await page.goto(url, { waitUntil: 'load' })
  const options = {}
  for (const name of ['entry', 'host', 'verdict']) {
    options[name] = await page.locator(`#f-${name} option`).evaluateAll((os) => os.map((o) => o.value))
  }
  const rows = await page.locator('.ledger tr[data-entry]').evaluateAll((rs) => {
    const groups = [...document.querySelectorAll('.ledger tbody')]
    return rs.map((r) => ({ ...r.dataset, group: groups.indexOf(r.closest('tbody')) }))
  })
  if (rows.length === 0) return complain('the ledger has no row')
  // Grouped by what is chosen, so that each pair is not combined with every open choice.
  const choices = new Map()
  for (const [a, b] of [['entry', 'host'], ['entry', 'verdict'], ['host', 'verdict']]) {
    for (const x of options[a]) for (const y of options[b]) choices.set([x && a + x, y && b + y].filter(Boolean).join(), { [a]: x, [b]: y })
  }
  for (const choice of choices.values()) {
    const chosen = Object.entries(choice).filter(([, value]) => value)
    const want = rows.filter((r) => chosen.every(([name, value]) => r[name] === value))
    const seen = await page.evaluate(([names, choice]) => {
      // As selectOption does, which first waits until the page has been drawn.
      for (const name of names) {
        const select = document.getElementById(`f-${name}`)
        if (select.value === (choice[name] ?? '')) continue
        select.value = choice[name] ?? ''
        for (const event of ['input', 'change']) select.dispatchEvent(new Event(event, { bubbles: true }))
      }
      const visible = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.getClientRects().length > 0).length
      return { rows: visible('.ledger tr[data-entry]'), heads: visible('.ledger .claimed') }
    }, [Object.keys(options), choice])
    const heads = new Set(want.map((r) => r.group)).size
    if (seen.rows !== want.length || seen.heads !== heads) {
      complain(`${JSON.stringify(choice)}: ${seen.rows} rows under ${seen.heads} claims are shown, not ${want.length} under ${heads}`)
    }
    if (!scripted) continue
    const query = new URLSearchParams(chosen).toString()
    if (new URL(page.url()).search !== (query && `?${query}`)) complain(`${JSON.stringify(choice)}: the address is ${page.url()}`)
    const said = await page.locator('#shown').innerText()
    if (said !== `${want.length} of ${rows.length} rows`) complain(`${JSON.stringify(choice)}: the count says ${said}`)
  }
}
