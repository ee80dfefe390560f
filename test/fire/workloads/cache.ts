import { setTimeout as sleep } from 'node:timers/promises'
import type { Cache } from 'perilune'
import { between, oneOf } from '../cell.ts'
import { nowUs } from '../clock.ts'
import { hold } from './holding.ts'
import { LEASE, repeat, type Site, type Workload } from './workload.ts'

interface Value {
  /** When its load began. */
  madeAt: number
}

const KEYS = ['x', 'y']
const WAIT_MS = 3000

async function get(site: Site, cache: Cache<Value>): Promise<void> {
  const { recorder, luck } = site
  const key = oneOf(luck, KEYS)
  await recorder.call(
    { what: 'get', key, waitMs: WAIT_MS },
    () =>
      cache.get(key, async (context) => {
        const { token } = context
        const madeAt = nowUs()
        // Asked for at each look: a process that stood still learns by that alone.
        const held = { token, signal: context.signal }
        // Without Redis no process knows of the others.
        if (token === 0) await sleep(5)
        else await hold(recorder, key, held, between(luck, 5, 25))
        return { madeAt }
      }),
    ({ madeAt }) => ({ madeAt }),
  )
}

export const cache: Workload = {
  async work(site) {
    const { redis, recorder, luck } = site
    const values = redis.cache<Value>('values', { ttl: '1h', wait: `${WAIT_MS}ms`, lease: LEASE })
    await Promise.all([
      repeat(site, 40, () => get(site, values)),
      repeat(site, 120, async () => {
        const key = oneOf(luck, KEYS)
        await recorder.call({ what: 'invalidate', key }, () => values.invalidate(key))
      }),
    ])
  },
}
