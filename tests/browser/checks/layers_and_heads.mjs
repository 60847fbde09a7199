import assert from 'node:assert/strict';

import {control, drawings, titles} from '../explorer_page.mjs';

export const name = 'layer, head, view and scale are chosen by controls, clicks and keys, for all panels alike';

export async function check(page) {
  const layers = await control(page, 'Layer').locator('option').allTextContents();
  const heads = await control(page, 'Head').locator('option').allTextContents();
  assert.ok(layers.length >= 2 && heads.length >= 3, `layers ${layers}, heads ${heads}`);
  assert.equal(heads[0], 'mean');

  for (const layer of [layers[0], layers.at(-1)]) {
    await control(page, 'Layer').selectOption(layer);
    for (const title of await titles(page)) assert.ok(title.startsWith(`layer ${layer} of`), title);
  }
  const [before] = await drawings(page);
  await control(page, 'Head').selectOption('1');
  for (const title of await titles(page)) assert.match(title, /head 1$/);
  const [single] = await drawings(page);
  assert.notEqual(single, before, 'one head looks as the mean of all');

  const maps = new Set([single]);
  for (const view of ['steps', 'heads', 'layers']) {
    await control(page, 'View').selectOption(view);
    maps.add((await drawings(page))[0]);
  }
  assert.equal(maps.size, 3, 'two views look alike');
  maps.add((await drawings(page)).at(-1));
  for (const label of ['log scale', 'without the first token', 'multiples of even attention']) {
    await control(page, label).check();
    // Of a bidirectional model, even attention is the same everywhere: its map stays.
    const scaled = (await drawings(page)).at(-1);
    assert.ok(!maps.has(scaled), `'${label}' changes nothing`);
    maps.add(scaled);
  }
  assert.match(await page.locator('.explorer-legend').first().textContent(), /times even/);

  // Up and down change the layer, a click on a row of the map chooses it.
  await control(page, 'View').selectOption('layers');
  await control(page, 'Layer').selectOption(layers[0]);
  await page.locator('.explorer-body').first().focus();
  await page.keyboard.press('ArrowDown');
  assert.ok((await titles(page))[0].startsWith(`layer ${layers[1]} of`), 'down does not go down');
  await page.keyboard.press('ArrowUp');
  const map = page.locator('.explorer-plot canvas').first();
  const box = await map.boundingBox();
  await map.click({position: {x: box.width / 2, y: box.height - 50}});
  assert.ok(!(await titles(page))[0].startsWith(`layer ${layers[0]} of`), 'a click on a lower row chooses none');

  // Pointing at a cell names its token; at nothing, nothing.
  await map.hover({position: {x: box.width / 2, y: 60}});
  const tip = page.locator('.explorer-tip');
  assert.ok(await tip.isVisible(), 'no text at the pointer');
  assert.match(await tip.textContent(), /position \d+.*\n.*layer \d+, .*\n.*of received attention/s);
  await page.mouse.move(2, 2);
  assert.ok(!await tip.isVisible(), 'the text at the pointer stays');
}
