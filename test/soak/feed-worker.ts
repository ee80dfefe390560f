// One process of a soak.

import { once } from 'node:events'
import { writeTo } from './history.ts'
import type { Share } from './work.ts'
import { work } from './work.ts'

const { share, history } = JSON.parse(process.argv[2] ?? '') as { share: Share; history: string }
const write = writeTo(history)
process.on('unhandledRejection', (reason) => write({ kind: 'broken', what: `unhandled: ${String(reason)}` }))
process.once('disconnect', () => process.exit(1)) // its parent has died

const begin = heard('begin')
const finish = heard('finish')
await work(share, write, {
  begin,
  finish,
  ready: () => process.send?.('ready'),
  produced: () => process.send?.('produced'),
})
process.exit(0)

async function heard(word: string): Promise<void> {
  for (;;) {
    const [message] = await once(process, 'message')
    if (message === word) return
  }
}
