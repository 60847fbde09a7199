// What checks look at in the section "Explore".

// A control by the beginning of its label, such as 'Step' or 'log scale'.
export const control = (page, label) =>
    page.locator('.explorer-controls label', {hasText: new RegExp(`^${label}`)}).locator('input, select').first();
export const playButton = (page) => page.locator('.explorer-controls button');
// The titles of all open panels: layer, step, head.
export const titles = (page) => page.locator('.explorer-head b').allTextContents();
// The maps as pixels: a change of what is drawn changes them.
export const drawings = (page) =>
    page.$$eval('.explorer-plot canvas', (canvases) => canvases.map((canvas) => canvas.toDataURL()));
// The background colours of the tokens of the first panel.
export const tokenColors = (page) => page.$$eval(
    '.explorer-panel:first-of-type .explorer-tokens span',
    (spans) => spans.map((span) => getComputedStyle(span).backgroundColor));
// Moves a slider as a reader does.
export async function slide(page, label, value) {
  await control(page, label).evaluate((input, to) => {
    input.value = to;
    input.dispatchEvent(new Event('input', {bubbles: true}));
  }, String(value));
}
