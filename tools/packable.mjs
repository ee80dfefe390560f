// `npm pack` and `npm publish` run this first: without dist/ the archive would be one without a library.
import { existsSync } from 'node:fs'

if (!existsSync(new URL('../dist/index.mjs', import.meta.url))) {
  console.error('nothing to pack: the library is not built yet; please type: npm run build')
  process.exit(1)
}
