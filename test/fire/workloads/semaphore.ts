import { between } from '../cell.ts'
import { hold } from './holding.ts'
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
  if (got === null) return
  await hold(recorder, KEY, got.value, between(luck, 5, 60))
  const given = { token: got.value.token }
  await recorder.call({ what: 'release', key: KEY, given }, () => got.value.release())
}

export const semaphore: Workload = {
  work: (site) => repeat(site, 40, () => visit(site)),
  async look({ recorder, redis }) {
    const permits = redis.semaphore(KEY, { limit: PERMITS, lease: LEASE })
    const free = await eventually(async () => (await permits.inspect()).used === 0)
    recorder.saw('left', KEY, { free })
  },
}
