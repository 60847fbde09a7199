import assert from 'node:assert/strict';

import {control, drawings, slide, titles} from '../explorer_page.mjs';

export const name = 'the address keeps what is chosen, and a reload shows it again';

const chosen = async (page) => ({
  view: await control(page, 'View').inputValue(), step: await control(page, 'Step').inputValue(),
  layer: await control(page, 'Layer').inputValue(), head: await control(page, 'Head').inputValue(),
  log: await control(page, 'log scale').isChecked(), first: await control(page, 'without the first').isChecked(),
  even: await control(page, 'multiples of even').isChecked(), titles: await titles(page)});

export async function check(page, report) {
  assert.equal(new URL(page.url()).hash, '', 'the address changes before anything is chosen');
  const usual = await chosen(page);
  await control(page, 'View').selectOption('steps');
  await slide(page, 'Step', 2);
  await control(page, 'Layer').selectOption({index: 3});
  await control(page, 'Head').selectOption('2');
  await control(page, 'log scale').check();
  await control(page, 'multiples of even').check();
  const before = await chosen(page), maps = await drawings(page);
  assert.notDeepEqual(before, usual);
  const {hash} = new URL(page.url());
  assert.match(hash, /^#explore&view=steps&step=[\d.]+&layer=[\d.]+&head=2&log=1&nofirst=0&even=1$/);

  await page.reload({waitUntil: 'load'});
  assert.deepEqual(await chosen(page), before, 'a reload forgets');
  assert.deepEqual(await drawings(page), maps, 'a reload draws something else');

  // Somebody else opens the address; somebody goes on to another.
  await page.goto('about:blank');
  await page.goto(`file://${report}${hash}`, {waitUntil: 'load'});
  assert.deepEqual(await chosen(page), before, 'the address shows something else');
  const top = await page.evaluate(() => document.getElementById('explorer').getBoundingClientRect().top);
  const bar = await page.evaluate(() => document.querySelector('nav').getBoundingClientRect().bottom);
  assert.ok(top >= bar && top < bar + 20, `the section begins at ${top}, the bar ends at ${bar}`);
  await page.evaluate(() => { location.hash = '#explore&view=heads&step=0&layer=0&head=mean&log=0&nofirst=1&even=0'; });
  await page.waitForFunction(() => [...document.querySelectorAll('.explorer-controls label')]
      .find((label) => label.textContent.startsWith('View')).querySelector('select').value === 'heads');
  assert.ok((await chosen(page)).first);

  // An address that makes no sense shows what is usual.
  await page.goto('about:blank');
  await page.goto(`file://${report}#explore&view=nonsense&step=x&layer=-7&head=99&log=2`, {waitUntil: 'load'});
  const odd = await chosen(page);
  assert.equal(odd.view, 'layers');
  assert.equal(odd.head, '-1');
  assert.equal(odd.layer, '0');
}
