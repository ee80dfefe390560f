// Checks the docs: snippets compile, links lead somewhere, quoted tests exist, every structure has all that
// belongs to it, every operation its vectors, every answer its word, and no word that was left comes back.

import { join } from 'node:path'
import { checkCompleteness } from './docs/completeness.ts'
import { checkLeftWords } from './docs/left-words.ts'
import { checkLinks } from './docs/links.ts'
import { checkPromises } from './docs/promises.ts'
import { checkSnippets } from './docs/snippets.ts'
import { checkVectors } from './docs/vectors.ts'
import { checkWords } from './docs/words.ts'

const root = join(import.meta.dirname, '..')
const problems = [
  ...checkLinks(root),
  ...checkCompleteness(root),
  ...checkPromises(root),
  ...checkVectors(root),
  ...checkWords(root),
  ...checkLeftWords(root),
  ...checkSnippets(root),
]
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
