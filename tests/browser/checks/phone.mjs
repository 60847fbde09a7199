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
  assert.ok(seen.bar < 80, `the bar takes ${seen.bar} of 800 pixels`);
}
