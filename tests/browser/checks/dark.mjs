import assert from 'node:assert/strict';

import {drawings, tokenColors} from '../explorer_page.mjs';

export const name = 'figures and maps have the colours of the page: dark on a dark screen, white on paper';
export const colorScheme = 'dark';

// The colour of the upper left corner of every figure, as the browser draws it.
const corners = (page) => page.$$eval('figure img', (images) => Promise.all(images.map(async (image) => {
  const shown = new Image();
  shown.src = image.currentSrc;
  await shown.decode();
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 4;
  const context = canvas.getContext('2d');
  context.drawImage(shown, 0, 0, shown.naturalWidth, shown.naturalHeight, 0, 0, shown.naturalWidth, shown.naturalHeight);
  return [...context.getImageData(1, 1, 1, 1).data].slice(0, 3).join(',');
})));
const pageColor = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).join(','));

export async function check(page) {
  const dark = await pageColor(page);
  assert.notEqual(dark, '255,255,255');
  const drawn = await corners(page);
  assert.ok(drawn.length >= 3, 'no figures');
  for (const color of drawn) assert.equal(color, dark, 'a slab of another colour in the dark page');
  // The maps of the section "Explore" are drawn for the page they are on, and anew when that changes.
  const map = async () => (await drawings(page))[0];
  const darkMap = await map();
  const tokens = await tokenColors(page);
  await page.emulateMedia({colorScheme: 'light'});
  await page.waitForTimeout(100);
  assert.notEqual(await map(), darkMap, 'the map stays dark');
  assert.notDeepEqual(await tokenColors(page), tokens, 'the tokens keep the colours of the dark page');
  await page.emulateMedia({colorScheme: 'dark', media: 'print'});
  await page.waitForTimeout(100);
  assert.equal(await pageColor(page), '255,255,255', 'paper is white');
  for (const color of await corners(page)) assert.equal(color, '255,255,255', 'a dark figure on paper');
  await page.emulateMedia({colorScheme: 'light', media: 'screen'});
  await page.waitForTimeout(100);
  for (const color of await corners(page)) assert.equal(color, '255,255,255', 'a dark figure on a white page');
}
