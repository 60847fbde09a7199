import assert from 'node:assert/strict';

export const name = 'on paper: figures and verdicts, no controls, nothing cut off';

export async function check(page) {
  await page.emulateMedia({media: 'print'});
  for (const hidden of ['nav', '#explorer', '#terms', 'figure ~ details'])
    assert.equal(await page.locator(hidden).first().isVisible(), false, `${hidden} is printed`);
  for (const shown of ['h1', 'details.finding > summary', 'figure img', 'ul.readings'])
    assert.ok(await page.locator(shown).first().isVisible(), `${shown} is not printed`);
  // The width of A4 between its margins.
  await page.setViewportSize({width: 700, height: 1000});
  const outside = await page.$$eval('main *', (elements) => elements
      .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
      .map((element) => `${element.tagName}.${element.className}: ${element.textContent.slice(0, 40)}`));
  assert.deepEqual(outside, [], 'these stick out of the paper');
  const paper = await page.pdf({format: 'A4'});
  assert.equal(paper.subarray(0, 5).toString(), '%PDF-');
  assert.ok(paper.length > 20000, `a document of ${paper.length} bytes`);
}
