import assert from 'node:assert/strict';

export const name = 'the bar at the top hides no heading it leads to, on a wide screen and on a narrow one';

async function jumps(page) {
  for (const id of await page.$$eval('nav a', (links) => links.map((link) => link.hash.slice(1)))) {
    await page.evaluate((to) => document.querySelector(`nav a[href="#${to}"]`).click(), id);
    const seen = await page.evaluate((to) => {
      const text = document.createRange();
      text.selectNodeContents(document.getElementById(to));
      return {heading: text.getBoundingClientRect().top, bar: document.querySelector('nav').getBoundingClientRect().bottom};
    }, id);
    assert.ok(seen.heading >= seen.bar, `#${id}: the heading begins at ${seen.heading}, the bar ends at ${seen.bar}`);
    assert.ok(seen.heading < 300 || await page.evaluate(() => scrollY + innerHeight > document.body.scrollHeight - 2),
              `#${id}: the heading is at ${seen.heading}, not at the top`);
  }
}

export async function check(page, report) {
  await jumps(page);
  await page.setViewportSize({width: 400, height: 800});
  await jumps(page);
  // An address that names a heading, opened as it is.
  await page.goto('about:blank');
  await page.goto(`file://${report}#floating`, {waitUntil: 'load'});
  const top = await page.evaluate(() => document.getElementById('floating').getBoundingClientRect().top);
  const bar = await page.evaluate(() => document.querySelector('nav').getBoundingClientRect().bottom);
  assert.ok(top >= bar && top < bar + 100, `opened at #floating: the heading is at ${top}, the bar ends at ${bar}`);
}
