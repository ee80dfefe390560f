import { between } from '../cell.ts'
import { holdLease } from './holding.ts'
import { LEASE, repeat, type Site, WAIT_MS, type Workload } from './workload.ts'

const NAME = 'read-or-written'
/** One of so many visits is of a writer. */
const VISITS_A_WRITER = 4

async function visit({ recorder, redis, luck }: Site): Promise<void> {
  const lock = redis.lock(NAME, { lease: LEASE })
  const key = between(luck, 1, VISITS_A_WRITER) === 1 ? 'writer' : 'reader'
  const way = key === 'writer' ? lock : lock.shared
  const got = await recorder.call(
    { what: 'acquire', key, waitMs: WAIT_MS },
    () => way.acquire({ wait: `${WAIT_MS}ms` }),
    ({ token }) => ({ token }),
  )
  if (got !== null) await holdLease({ recorder, luck }, key, got.value)
}

export const sharedLock: Workload = {
  work: (site) => Promise.all([1, 2].map(() => repeat(site, 40, () => visit(site)))).then(() => undefined),
}
