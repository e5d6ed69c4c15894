// A button on each block of code that copies it. Without this script, the code is plain
// text that can be selected.
for (const pre of document.querySelectorAll('main pre')) {
  if (!navigator.clipboard) break // only on a secure origin
  const box = document.createElement('div')
  box.className = 'code'
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', 'Copy this code')
  const said = document.createElement('span')
  said.className = 'vh'
  said.setAttribute('role', 'status')
  let timer
  button.addEventListener('click', async () => {
    clearTimeout(timer)
    try {
      await navigator.clipboard.writeText(pre.innerText.replace(/\n$/, ''))
      button.textContent = said.textContent = 'Copied'
    } catch {
      button.textContent = said.textContent = 'Not copied'
    }
    timer = setTimeout(() => { button.textContent = 'Copy'; said.textContent = '' }, 2000)
  })
  pre.before(box)
  box.append(pre, button, said)
}
