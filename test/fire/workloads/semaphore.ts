import { holdLease } from './holding.ts'
import { eventually, LEASE, repeat, type Site, WAIT_MS, type Workload } from './workload.ts'

export const PERMITS = 2
const KEY = 'permits'

async function visit({ recorder, redis, luck }: Site): Promise<void> {
  const permits = redis.semaphore(KEY, { limit: PERMITS, lease: LEASE })
  const got = await recorder.call(
    { what: 'acquire', key: KEY, waitMs: WAIT_MS },
    () => permits.acquire({ wait: `${WAIT_MS}ms` }),
    ({ token }) => ({ token }),
  )
  if (got !== null) await holdLease({ recorder, luck }, KEY, got.value)
}

export const semaphore: Workload = {
  work: (site) => repeat(site, 40, () => visit(site)),
  async look({ recorder, redis }) {
    const permits = redis.semaphore(KEY, { limit: PERMITS, lease: LEASE })
    const free = await eventually(async () => (await permits.inspect()).used === 0)
    recorder.saw('left', KEY, { free })
  },
}
