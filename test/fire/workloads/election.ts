import type { Term } from 'perilune'
import { between } from '../cell.ts'
import { hold } from './holding.ts'
import { LEASE, type Site, type Workload } from './workload.ts'

const OFFICE = 'office'

/** Leads for a while, and writes what only the newest leader may write. */
async function lead({ recorder, redis, luck, process }: Site, term: Term): Promise<void> {
  const { token } = term
  recorder.metAgain('elected', OFFICE, { token })
  await recorder.call(
    { what: 'write', key: OFFICE, given: { token } },
    () => redis.fenced<number>(OFFICE).set(process, token),
    (stored) => ({ stored }),
  )
  const assertHeld = (): void => term.assertLeading()
  await hold(recorder, OFFICE, { token, assertHeld }, between(luck, 20, 200))
  if (between(luck, 1, 2) === 1) term.stepDown()
}

export const election: Workload = {
  async work(site) {
    const { redis, over } = site
    const campaign = redis.election(OFFICE, { lease: LEASE }).campaign((term) => lead(site, term))
    await new Promise((resolve) => over.addEventListener('abort', resolve, { once: true }))
    await campaign.close()
  },
}
