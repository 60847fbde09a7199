import assert from 'node:assert/strict';

import {control, drawings, titles} from '../explorer_page.mjs';

export const name = 'another sample can be chosen: its map, its tokens and its steps are shown, and the address keeps it';

const tokens = (page) => page.locator('.explorer-panel').first().locator('.explorer-tokens').allTextContents();
const counts = (page) => page.locator('.explorer-panel summary .count').allTextContents();

export async function check(page, report) {
  const samples = await control(page, 'Sample').locator('option').allTextContents();
  assert.ok(samples.length >= 3, `samples to choose: ${samples}`);
  assert.equal(new Set(samples).size, samples.length, 'a sample twice');
  const maps = new Set(), texts = new Set();
  for (const sample of samples) {
    await control(page, 'Sample').selectOption(sample);
    for (const count of await counts(page)) assert.ok(count.startsWith(`sample ${sample},`), count);
    maps.add((await drawings(page))[0]);
    texts.add((await tokens(page)).join('|'));
  }
  assert.equal(maps.size, samples.length, 'maps of samples repeat');
  assert.equal(texts.size, samples.length, 'tokens of samples repeat');
  assert.equal(await page.locator('.explorer-body').count(), await page.locator('.explorer-panel').count());

  // What else is chosen stays, a key still works, and the address leads back.
  await control(page, 'Head').selectOption('1');
  await page.locator('.explorer-body').first().focus();
  await page.keyboard.press('ArrowRight');
  const [map] = await drawings(page), [title] = await titles(page);
  assert.match(title, /head 1$/);
  const {hash} = new URL(page.url());
  assert.ok(hash.endsWith(`&sample=${samples.length - 1}`), hash);
  await page.goto('about:blank');
  await page.goto(`file://${report}${hash}`, {waitUntil: 'load'});
  assert.equal((await drawings(page))[0], map, 'the address shows something else');
  await control(page, 'Sample').selectOption(samples[0]);
  assert.ok(!new URL(page.url()).hash.includes('sample'), 'the first sample needs no mention');
  assert.notEqual((await drawings(page))[0], map);
}
