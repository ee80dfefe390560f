// `npm start`: installs, builds and starts the service, each step only when it is needed.
import { requireNode } from './setup/node-version.mjs'

requireNode() // before anything is loaded that an old Node.js could not read

const { orExplain } = await import('./setup/command.mjs')
const { install } = await import('./setup/install.mjs')
const { build } = await import('./setup/build.mjs')
const { endWithNpm } = await import('./setup/parent.mjs')

endWithNpm()

await orExplain(async () => {
  await install()
  await build()
})

// In this process, so that Ctrl-C has one meaning. The service starts when its module is loaded.
await import('../server/dist/main.mjs')
