import assert from 'node:assert/strict';

export const name = 'the first screen names models and questions and states findings; evidence, methods and terms unfold';

export async function check(page) {
  // Models with their kinds, and a finding with a verdict in words, before anything is scrolled or opened.
  const bottom = (selector) => page.locator(selector).first().evaluate((element) => element.getBoundingClientRect().bottom);
  for (const selector of ['h1', '.models table', '#claims', 'details.finding > summary'])
    assert.ok(await bottom(selector) < 900, `${selector} is not on the first screen`);
  assert.match(await page.locator('.models').textContent(), /million.*masked tokens.*the next token/s);

  const findings = page.locator('details.finding');
  assert.equal(await findings.count(), 10);
  const words = await findings.locator('summary').allTextContents();
  for (const text of words)
    assert.match(text, /supported|contradicted|no difference|mixed|not decided|not testable/, 'a verdict without words');
  assert.match(await page.locator('#claims + p').textContent(), /kinds of models nothing can be said: too few networks/);
  const evidence = findings.first().locator('dl');
  assert.ok(!await evidence.isVisible(), 'evidence is not folded');
  await findings.first().locator('summary').click();
  assert.ok(await evidence.isVisible(), 'a click does not unfold the evidence');
  assert.match(await evidence.textContent(), /The claim.*The test/s);

  await page.locator('#methods summary').click();
  const methods = await page.locator('#methods-text').textContent();
  assert.match(methods, /Buoy \d.*parameters.*seed \d+.*resamples.*rules [0-9a-f]{64}/s);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('button.copy').click();
  await page.waitForFunction(() => document.querySelector('button.copy').textContent !== 'Copy');
  const copied = await page.locator('button.copy').textContent();
  if (copied === 'Copied') assert.equal(await page.evaluate(() => navigator.clipboard.readText()), methods);
  else assert.equal(await page.evaluate(() => window.getSelection().toString()), methods);

  // Every term that a finding marks is in the fold.
  await page.locator('#terms summary').click();
  const meanings = await page.locator('#terms dd').allTextContents();
  const marked = await page.$$eval('abbr[title]', (terms) => terms.map((term) => term.title));
  assert.ok(marked.length > 5, `${marked.length} terms are marked`);
  for (const meaning of marked) assert.ok(meanings.includes(meaning + '.'), meaning);
}
