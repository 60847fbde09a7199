import assert from 'node:assert/strict';

import {control, drawings, playButton, slide, titles, tokenColors} from '../explorer_page.mjs';

export const name = 'the slider, the arrow keys and Play walk through the steps, and the maps follow';

export async function check(page) {
  const slider = control(page, 'Step');
  const last = Number(await slider.getAttribute('max'));
  assert.ok(last >= 3, `the slider ends at ${last}`);

  // Every step has a title, a map and coloured tokens of its own.
  const seen = new Set(), maps = new Set(), colors = new Set();
  for (let step = 0; step <= last; ++step) {
    await slide(page, 'Step', step);
    const [title] = await titles(page);
    const output = await page.locator('.explorer-controls output').textContent();
    assert.equal(output, step === last ? 'final row' : `step ${step}`);
    assert.ok(title.includes(output), `the slider says ${output}, the panel ${title}`);
    assert.equal(await slider.getAttribute('aria-valuetext'), output);
    seen.add(title);
    maps.add((await drawings(page))[0]);
    colors.add((await tokenColors(page)).join());
  }
  assert.equal(seen.size, last + 1, 'titles of steps repeat');
  assert.equal(maps.size, last + 1, 'maps of steps repeat');
  assert.ok(colors.size > 1, 'the colours of the tokens never change');

  // Masked tokens become fewer; the final row has none.
  await slide(page, 'Step', 0);
  const masked = () => page.locator('.explorer-panel').first().locator('.explorer-tokens span.masked').count();
  assert.ok(await masked() > 0, 'nothing is masked at the first step');
  await slide(page, 'Step', last);
  assert.equal(await masked(), 0, 'something is masked in the final row');

  // The keyboard: a panel in focus.
  await slide(page, 'Step', 1);
  await page.locator('.explorer-body').first().focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await slider.inputValue(), '2');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await slider.inputValue(), '0', 'left of the first step there is nothing');

  // Play goes to the end and stops there; a second click stops it early.
  const play = playButton(page);
  assert.equal(await play.textContent(), 'Play');
  await play.click();
  assert.equal(await play.textContent(), 'Pause');
  await page.waitForFunction((end) => document.querySelector('.explorer-controls input[type=range]').value === end,
                             String(last), {timeout: 30000});
  await page.waitForFunction(() => document.querySelector('.explorer-controls button').textContent === 'Play');
  await play.click();  // from the beginning again
  await page.waitForFunction(() => document.querySelector('.explorer-controls input[type=range]').value === '1');
  await play.click();
  const stopped = await slider.inputValue();
  await page.waitForTimeout(900);
  assert.equal(await slider.inputValue(), stopped, 'it plays on after Pause');
  assert.ok(Number(stopped) < last);
}
