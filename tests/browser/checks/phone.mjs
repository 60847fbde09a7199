import assert from 'node:assert/strict';

export const name = 'a phone of 400 pixels shows the page without scrolling sideways';
export const viewport = {width: 400, height: 800};

export async function check(page) {
  const seen = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth,
    // What is wider than the screen must lie in something that scrolls by itself.
    outside: [...document.querySelectorAll('body *')]
                 .filter((element) => element.getBoundingClientRect().right > innerWidth + 1 &&
                     !element.closest('.scroll, .drawing, nav'))
                 .map((element) => `${element.tagName}.${element.className}`),
    bar: document.querySelector('nav').offsetHeight,
  }));
  assert.equal(seen.wide, 400, `the page is ${seen.wide} pixels wide`);
  assert.deepEqual(seen.outside, [], 'these stick out');
  // The maps fit, and their controls can be used.
  const maps = await page.$$eval('.explorer-plot canvas', (canvases) => canvases.map((canvas) => canvas.clientWidth));
  assert.ok(maps.length > 0 && maps.every((wide) => wide > 200 && wide < 400), `maps are ${maps} pixels wide`);
  for (const box of await page.$$eval('.explorer-controls select, .explorer-controls input, .explorer-controls button',
      (controls) => controls.map((control) => control.getBoundingClientRect().right)))
    assert.ok(box <= 400, `a control ends at ${box}`);
  assert.ok(seen.bar < 80, `the bar takes ${seen.bar} of 800 pixels`);
  // Links of the bar that do not fit are scrolled to, and a shadow says that there are more.
  const bar = await page.evaluate(() => {
    const links = document.querySelector('nav div');
    return {more: links.scrollWidth > links.clientWidth, shadow: getComputedStyle(links).backgroundAttachment};
  });
  assert.ok(!bar.more || bar.shadow === 'local, local, scroll, scroll', `the bar is cut without a sign: ${bar.shadow}`);
}
