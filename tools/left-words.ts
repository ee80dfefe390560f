// Lists the left words that are still in use: npx tsx tools/left-words.ts [folder]

import { join } from 'node:path'
import { checkLeftWords } from './docs/left-words.ts'

const found = checkLeftWords(join(import.meta.dirname, '..'), process.argv[2] ?? '')
for (const each of found) console.log(each)
console.log(`${found.length} left words`)
