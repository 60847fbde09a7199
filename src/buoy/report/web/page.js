// The height of the bar for jumps to headings; buttons that copy a text; a click on a column's head sorts its table.
{
  const bar = document.querySelector('nav');
  const measure = () => document.documentElement.style.setProperty('--bar', bar.offsetHeight + 'px');
  measure();
  window.addEventListener('resize', measure);
  if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}
for (const button of document.querySelectorAll('button.copy')) {
  button.addEventListener('click', async () => {
    const text = document.getElementById(button.dataset.copies);
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = 'Copied';
    } catch {  // forbidden to this page: the reader copies what is selected
      window.getSelection().selectAllChildren(text);
      button.textContent = 'Selected: press Ctrl+C';
    }
  });
}
for (const head of document.querySelectorAll('details th')) {
  head.addEventListener('click', () => {
    const body = head.closest('table').tBodies[0], at = head.cellIndex, up = head.dataset.up !== '1';
    head.dataset.up = up ? '1' : '0';
    const key = row => { const t = row.cells[at].textContent, n = parseFloat(t); return isNaN(n) ? t : n; };
    [...body.rows].sort((a, b) => {
      const x = key(a), y = key(b), less = typeof x === typeof y ? x < y : typeof x === 'number';
      return (x === y ? 0 : less ? -1 : 1) * (up ? 1 : -1);
    }).forEach(row => body.appendChild(row));
  });
}
