// `npm test`: prepares the machine, then runs the tests. Arguments go to vitest: npm test -- test/compiler
import { requireNode } from './setup/node-version.mjs'

requireNode()

const { orExplain } = await import('./setup/command.mjs')
const { install } = await import('./setup/install.mjs')
const { ensurePrograms } = await import('./setup/machine.mjs')
const { build } = await import('./setup/build.mjs')
const { runTwice } = await import('./setup/run-twice.mjs')

await orExplain(async () => {
  await install()
  await ensurePrograms(
    'redis',
    'postgres',
    'mariadb',
    'luacheck',
    'pythonRedis',
    'zaqarClient',
    'sqlite',
    'chromium',
  )
  await build()
})

const { passed, failed } = await runTwice(process.argv.slice(2))
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
