import { between } from '../cell.ts'
import { hold } from './holding.ts'
import { LEASE, repeat, type Site, WAIT_MS, type Workload } from './workload.ts'

/** All processes come with the same keys, at about the same time. */
function visits(site: Site): () => Promise<void> {
  const { recorder, redis, luck, process } = site
  const once = redis.once<string>('work', { lease: LEASE, resultTtl: '1h' })
  let visit = 0
  return async () => {
    const key = `key-${visit++}`
    await recorder.call(
      { what: 'run', key, waitMs: WAIT_MS },
      () =>
        once.run(
          key,
          async ({ token, signal }) => {
            await hold(recorder, key, { token, signal }, between(luck, 5, 50))
            return `${process} ${token}`
          },
          { wait: `${WAIT_MS}ms` },
        ),
      (result) => ({ result }),
    )
  }
}

export const once: Workload = { work: (site) => repeat(site, 100, visits(site)) }
