import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MENDS } from './mends.ts'

const ROOT = join(import.meta.dirname, '../..')

test.each(MENDS)('the mend can be taken back where it stands: $fault', ({ file, now, own }) => {
  expect(readFileSync(join(ROOT, file), 'utf8').split(now)).toHaveLength(2)
  for (const path of own) expect(readFileSync(join(ROOT, path), 'utf8')).not.toBe('')
})
