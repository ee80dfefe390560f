// Measures what is built and writes docs/sizes.md: `npm run build && npx tsx tools/sizes.ts`. test/sizes.test.ts compares.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundles, packageSize } from './sizes/measure.ts'
import { withSizes } from './sizes/table.ts'

const root = join(import.meta.dirname, '..')
const page = join(root, 'docs/sizes.md')
const sizes = [...(await bundles(root)), packageSize(root)]
writeFileSync(page, withSizes(readFileSync(page, 'utf8'), sizes))
