import assert from 'node:assert/strict';

import {control, drawings, titles} from '../explorer_page.mjs';

export const name = 'the difference of two traces on the same sample is drawn, and turns its sign with the order';

export async function check(page, report) {
  const traces = await control(page, 'Minus').locator('option').allTextContents();
  assert.ok(traces.length >= 3 && traces[0] === 'nothing', `traces: ${traces}`);
  const own = await drawings(page);
  await control(page, 'Minus').selectOption({index: 2});
  const difference = await drawings(page);
  assert.notEqual(difference[0], own[0], 'the difference looks like the trace itself');
  assert.equal(difference[1], own[1], 'a trace is not compared with itself');
  assert.ok((await titles(page))[0].endsWith(`minus ${traces[2]}`), (await titles(page))[0]);
  assert.match(await page.locator('.explorer-legend').first().textContent(), /−.*\+/);

  // The number at the pointer is what it says: one minus the other.
  const told = async (panel) => {
    const map = page.locator('.explorer-plot canvas').nth(panel), box = await map.boundingBox();
    await map.hover({position: {x: 62, y: 24}});
    assert.ok(box.width > 0);
    return page.locator('.explorer-tip').textContent();
  };
  const text = await told(0);
  const [, mine, sign, gap, theirs] = text.match(/([\d.e-]+)% of received[^]*?([+−])([\d.e-]+)% against[^]*has ([\d.e-]+)%/);
  const wanted = Number(mine) - Number(theirs), found = (sign === '+' ? 1 : -1) * Number(gap);
  assert.ok(Math.abs(wanted - found) <= 0.02 * Math.abs(Number(mine)) + 0.02 * Math.abs(Number(theirs)), `${text}: ${wanted}`);

  // The other way round.
  await control(page, 'Minus').selectOption({index: 1});
  const turned = await told(1);
  assert.ok(turned.includes(sign === '+' ? '−' : '+'), `the sign stays: ${turned}`);
  const {hash} = new URL(page.url());
  assert.match(hash, /&minus=0$/);
  const maps = await drawings(page);
  await page.goto('about:blank');
  await page.goto(`file://${report}${hash}`, {waitUntil: 'load'});
  assert.deepEqual(await drawings(page), maps, 'the address shows something else');
  await control(page, 'Minus').selectOption({index: 0});
  assert.ok(!new URL(page.url()).hash.includes('minus'));
}
