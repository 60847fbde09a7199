import assert from 'node:assert/strict';

import {control, drawings, titles} from '../explorer_page.mjs';

export const name = 'the grid shows every head of the chosen layer side by side, and a click chooses one';

export async function check(page) {
  const heads = (await control(page, 'Head').locator('option').count()) - 1;
  await control(page, 'View').selectOption('grid');
  const [grid] = await drawings(page);
  await control(page, 'Layer').selectOption({index: 0});
  assert.notEqual((await drawings(page))[0], grid, 'another layer looks the same');

  // Every small map answers to the pointer with its own head.
  const map = page.locator('.explorer-plot canvas').first(), box = await map.boundingBox();
  const seen = new Set();
  for (let x = 20; x < box.width; x += 40) {
    for (let y = 22; y < box.height; y += 12) {
      await map.hover({position: {x, y}});
      const tip = page.locator('.explorer-tip');
      if (await tip.isVisible()) seen.add((await tip.textContent()).match(/mean over heads|head \d+/)[0]);
    }
  }
  assert.equal(seen.size, heads + 1, `heads met: ${[...seen]}`);
  await map.click({position: {x: box.width - 20, y: 30}});
  const [title] = await titles(page);
  assert.match(title, /head \d+$/);
  assert.equal(await control(page, 'Head').inputValue(), title.match(/head (\d+)$/)[1]);
  // On a narrow screen the small maps stand below each other.
  const {height} = await map.boundingBox();
  await page.setViewportSize({width: 400, height: 800});
  assert.ok((await map.boundingBox()).height > height * 1.5);
}
