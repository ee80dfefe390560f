// A feed with claims, recorded in the words of a queue, because the same checks apply.

import type { Claim, Feed } from 'perilune'
import { between } from '../cell.ts'
import { hold } from './holding.ts'
import { eventually, LEASE, repeat, type Site, WAIT_MS, type Workload } from './workload.ts'

interface Body {
  key: string
}

const open = ({ redis }: Site): Feed<Body> => redis.feed<Body>('work')

async function claim(site: Site, feed: Feed<Body>, waitMs: number, mostMs: number): Promise<void> {
  const got = await site.recorder.call(
    { what: 'claim', waitMs },
    () => feed.claim({ limit: 5, lease: LEASE, wait: `${waitMs}ms` }),
    (found) => ({
      jobs: (found?.messages ?? []).map(({ body, claims }) => ({
        id: body.key,
        token: found?.token,
        attempt: claims,
      })),
    }),
  )
  if (got !== null && got.value !== null) await settle(site, got.value, mostMs)
}

async function settle({ recorder, luck }: Site, found: Claim<Body>, mostMs: number): Promise<void> {
  for (const { id, body } of found.messages) {
    if (!(await hold(recorder, body.key, found, between(luck, 0, mostMs)))) return
    const acked = { what: 'ack', key: body.key, given: { token: found.token } }
    await recorder.call(
      acked,
      () => found.ack([id]),
      (refused) => ({ refused: refused.map(({ reason }) => reason).join() }),
    )
  }
}

export const feedClaims: Workload = {
  async work(site) {
    const feed = open(site)
    let made = 0
    const append = (): Promise<unknown> => {
      const key = `${site.process}-${++made}`
      return site.recorder.call({ what: 'enqueue', key }, () => feed.append({ key }))
    }
    await Promise.all([repeat(site, 90, append), repeat(site, 10, () => claim(site, feed, WAIT_MS, 25))])
  },
  async look(site) {
    const feed = open(site)
    const drained = await eventually(async () => {
      await claim(site, feed, 50, 0)
      return (await feed.inspect()).total === 0
    })
    const { deadLetters } = await feed.inspect()
    site.recorder.saw('left', '', { drained, dead: deadLetters })
  },
}
