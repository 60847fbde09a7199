// Reads the scripts that pages hold and those of these tests:  node lint.mjs WORK_FOLDER
// The files of one script share a function, so they are read together, in the order of assets.txt.
import {readdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

import {browserNames, nodeNames, rules} from './lint_rules.mjs';

const {Linter} = createRequire(join(process.argv[2], 'package.json'))('eslint');
const here = dirname(fileURLToPath(import.meta.url));
const web = join(here, '../../src/buoy/report/web');
const linter = new Linter({configType: 'flat'});
let found = 0, read = 0;

// `files`: [{name, text}], read as one text; messages name the file and its own line.
function lint(files, languageOptions) {
  const messages = linter.verify(files.map(({text}) => text).join(''), {
    languageOptions: {ecmaVersion: 2022, ...languageOptions},
    linterOptions: {reportUnusedDisableDirectives: 'error'},
    rules,
  });
  read += files.length;
  for (const {line, column, message, ruleId} of messages) {
    let own = line, file = files[0];
    for (file of files) {
      const lines = file.text.split('\n').length - 1;
      if (own <= lines) break;
      own -= lines;
    }
    console.log(`${file.name}:${own}:${column}: ${message} (${ruleId ?? 'syntax'})`);
    ++found;
  }
}

const file = (folder, name) => ({name, text: readFileSync(join(folder, name), 'utf8')});
for (const line of readFileSync(join(web, 'assets.txt'), 'utf8').split('\n').filter((text) => /^[^#]/.test(text))) {
  const [asset, ...names] = line.trim().split(/\s+/);
  if (!asset.endsWith('.js')) continue;
  // The function around them gives them `return`.
  lint(names.map((name) => file(web, name)), {
    sourceType: 'script', globals: browserNames, parserOptions: {ecmaFeatures: {globalReturn: true, impliedStrict: true}}});
}
const scripts = (folder) => readdirSync(join(here, folder)).filter((name) => name.endsWith('.mjs'));
for (const name of [...scripts('.'), ...scripts('checks').map((check) => `checks/${check}`)])
  lint([file(here, name)], {sourceType: 'module', globals: nodeNames});
console.log(found === 0 ? `lint: ${read} files, nothing found` : `lint: ${found} found`);
process.exit(found === 0 ? 0 : 1);
