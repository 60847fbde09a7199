import assert from 'node:assert/strict';

export const name = 'a report opens, shows its heading and its figures, and asks nothing of the network';

export async function check(page) {
  assert.notEqual(await page.title(), '');
  assert.ok(await page.locator('h1').first().isVisible(), 'no heading is visible');
  const figures = await page.locator('figure svg, figure img').count();
  assert.ok(figures >= 3, `expected figures, found ${figures}`);
  const drawn = await page.evaluate(
      () => [...document.querySelectorAll('figure img')].every((image) => image.complete && image.naturalWidth > 0));
  assert.ok(drawn, 'an image of a figure is not drawn');
}
