// `npm run check`: every check that needs no server. With --packages also what a release needs.
import { requireNode } from './setup/node-version.mjs'

requireNode()

const { orExplain } = await import('./setup/command.mjs')
const { install } = await import('./setup/install.mjs')
const { ensurePrograms } = await import('./setup/machine.mjs')
const { build } = await import('./setup/build.mjs')
const { checks, packageChecks } = await import('./setup/checks.mjs')

const withPackages = process.argv.includes('--packages')

await orExplain(async () => {
  await install()
  await ensurePrograms('luacheck')
  if (withPackages) await build()
})

let failed = 0
const wanted = withPackages ? [...checks, ...packageChecks] : checks
for (const { name, check } of wanted) {
  const { code, output } = await check()
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name}`)
  if (code !== 0) console.log(output.trimEnd())
  failed += code === 0 ? 0 : 1
}
console.log(`${wanted.length - failed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
