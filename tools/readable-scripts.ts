// Writes every script in words into a folder, for checkers: `tsx tools/readable-scripts.ts FOLDER`. Prints where the lines of
// each come from, as JSON.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compileTree } from './contract/compile.ts'

const [folder = '.'] = process.argv.slice(2)
const { operations } = compileTree(join(import.meta.dirname, '../lua'), undefined, undefined, {
  form: 'readable',
})
for (const [name, { source }] of Object.entries(operations)) {
  const file = join(folder, `${name}.lua`)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, source)
}
console.log(
  JSON.stringify(Object.fromEntries(Object.entries(operations).map(([name, { lines }]) => [name, lines]))),
)
