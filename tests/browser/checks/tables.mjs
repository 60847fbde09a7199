import assert from 'node:assert/strict';

export const name = 'a click on the head of a column sorts its table, up and then down';

export async function check(page) {
  const details = page.locator('figure ~ details:has(table)').first();
  await details.locator('summary').click();
  const table = details.locator('table').first();
  const columns = await table.locator('th').count();
  let sorted = 0;
  for (let column = 0; column < columns; ++column) {
    const cells = async () => (await table.locator(`tbody tr td:nth-child(${column + 1})`).allTextContents())
        .map((text) => text === '' ? NaN : Number(text));
    const values = await cells();
    if (values.some(Number.isNaN) || new Set(values).size < 2) continue;
    await table.locator('th').nth(column).click();
    assert.deepEqual(await cells(), [...values].sort((a, b) => a - b));
    await table.locator('th').nth(column).click();
    assert.deepEqual(await cells(), [...values].sort((a, b) => b - a));
    ++sorted;
  }
  assert.ok(sorted > 0, 'no column of numbers to sort by');
}
