import assert from 'node:assert/strict';

import {control, drawings, titles, tokenColors} from '../explorer_page.mjs';

export const name = 'attention from a chosen query of the answer, and to a chosen token, can be looked at';

export async function check(page, report) {
  const from = control(page, 'From');
  const queries = await from.locator('option').allTextContents();
  assert.ok(queries.length >= 3, `queries: ${queries}`);
  assert.equal(queries[0], 'all queries');
  const [received] = await drawings(page), receivedColors = await tokenColors(page);
  const maps = new Set([received]);
  for (const index of [1, 2]) {
    await from.selectOption({index});
    maps.add((await drawings(page))[0]);
    assert.match((await titles(page))[0], /from the query that writes “.*”, mean over heads$/);
  }
  assert.equal(maps.size, 3, 'maps of queries repeat');
  assert.notDeepEqual(await tokenColors(page), receivedColors);

  // All queries of the answer below each other; a click chooses one.
  await control(page, 'View').selectOption('rows');
  await from.selectOption({index: 1});
  const map = page.locator('.explorer-plot canvas').first(), box = await map.boundingBox();
  await map.hover({position: {x: box.width / 2, y: 40}});
  assert.match(await page.locator('.explorer-tip').textContent(), /from the query that writes .*of its attention/s);
  const before = await from.inputValue();
  await map.click({position: {x: box.width / 2, y: box.height - 60}});
  assert.notEqual(await from.inputValue(), before, 'a click on a row chooses no query');

  // A click on a token tells the attention to it; a second one lets it go.
  const token = page.locator('.explorer-tokens span').nth(5), told = page.locator('.explorer-to').first();
  assert.ok(!await told.isVisible());
  await token.click();
  assert.match(await told.textContent(), /^To “.*” at 5, layer \d+, mean over heads: from all queries [\d.e-]+%; from the queries that write “/);
  const {hash} = new URL(page.url());
  assert.match(hash, /&from=\d+&token=5$/);
  const [chosen] = await drawings(page);
  await page.goto('about:blank');
  await page.goto(`file://${report}${hash}`, {waitUntil: 'load'});
  assert.equal((await drawings(page))[0], chosen, 'the address shows something else');
  await page.locator('.explorer-tokens span').nth(5).click();
  assert.ok(!await page.locator('.explorer-to').first().isVisible());

  // Weights of one query add up to everything it gives.
  const sum = await page.evaluate(() => {
    const data = JSON.parse(document.querySelector('.explorer-panel script').textContent);
    const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const codes = bytes(data.rowCodes), scales = new Float32Array(bytes(data.rowScales).buffer);
    let total = 0;
    for (let j = 0; j < data.tokens; ++j)
      if (codes[j] > 0) total += scales[0] * Math.pow(scales[1] / scales[0], (codes[j] - 1) / 254);
    return total;
  });
  assert.ok(Math.abs(sum - 1) < 0.03, `the first row adds up to ${sum}`);
}
