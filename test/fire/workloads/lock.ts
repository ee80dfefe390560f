import type { Lease } from 'perilune'
import { oneOf } from '../cell.ts'
import { holdLease } from './holding.ts'
import { LEASE, repeat, type Site, WAIT_MS, type Workload } from './workload.ts'

const NAMES = ['a', 'b']

async function visit(site: Site): Promise<void> {
  const { recorder, redis, luck } = site
  const key = oneOf(luck, NAMES)
  const lock = redis.lock(key, { lease: LEASE })
  const asked = { what: 'acquire', key, waitMs: WAIT_MS }
  const got = await recorder.call(
    asked,
    () => lock.acquire({ wait: `${WAIT_MS}ms` }),
    ({ token }) => ({ token }),
  )
  if (got !== null) await use(site, key, got.value)
}

/** Writes what only the newest holder may write, and gives the lock back. */
async function use({ recorder, redis, luck, process }: Site, key: string, lease: Lease): Promise<void> {
  const { token } = lease
  await recorder.call(
    { what: 'write', key, given: { token } },
    () => redis.fenced<number>(key).set(process, token),
    (stored) => ({ stored }),
  )
  await holdLease({ recorder, luck }, key, lease)
}

export const lock: Workload = {
  work: (site) => repeat(site, 40, () => visit(site)),
}
