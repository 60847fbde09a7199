// Opens the report once for every check and fails on any error the browser reports, whatever the check looks at.
//   node run_checks.mjs BROWSER WORK_FOLDER [CHECK...]
// A check is a file in checks/ that exports `name`, `check(page, report)` and maybe `viewport` and `colorScheme`; it
// throws what is wrong. `page` is a page of playwright-core with the report open, `report` the path of its file.
import {readdirSync, realpathSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const [executablePath, work, ...only] = process.argv.slice(2);
const {chromium} = createRequire(join(work, 'package.json'))('playwright-core');
const here = dirname(fileURLToPath(import.meta.url));
const report = realpathSync(join(work, 'pages/report/report.html'));

const files = readdirSync(join(here, 'checks'))
                  .filter((file) => file.endsWith('.mjs') && (only.length === 0 || only.includes(file.slice(0, -4))))
                  .sort();
if (files.length === 0) throw new Error(`no check is called ${only.join(' or ')}`);

// No sandbox: as root, which containers and continuous integration are, the browser has none.
const browser = await chromium.launch({executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage']});
let failed = 0;
for (const file of files) {
  const {name, check, viewport, colorScheme} = await import(pathToFileURL(join(here, 'checks', file)).href);
  const context = await browser.newContext(
      {viewport: viewport ?? {width: 1280, height: 900}, colorScheme: colorScheme ?? 'light'});
  const page = await context.newPage();
  const errors = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => errors.push(`script: ${error.message}`));
  page.on('requestfailed', (request) => errors.push(`not loaded: ${request.url()}`));
  page.on('request', (request) => {
    if (!/^(file|data|blob):/.test(request.url())) errors.push(`asks the network: ${request.url()}`);
  });
  try {
    await page.goto(pathToFileURL(report).href, {waitUntil: 'load'});
    await check(page, report);
  } catch (error) {
    errors.push(error.message);
  }
  await context.close();
  console.log(`${errors.length === 0 ? 'ok    ' : 'FAILED'} ${file}: ${name}`);
  for (const error of errors) console.log(`       ${error}`);
  failed += errors.length === 0 ? 0 : 1;
}
await browser.close();
process.exit(failed === 0 ? 0 : 1);
