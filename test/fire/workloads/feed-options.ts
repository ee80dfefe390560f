// Messages of a feed that keeps the newest ones: some are delayed, some expire, some are appended twice under one
// idempotency key.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Feed } from 'perilune'
import { between, oneOf } from '../cell.ts'
import { follow, readAll } from './feed.ts'
import { repeat, type Site, type Workload } from './workload.ts'

export const KEPT = 60
const DELAYS_MS = [0, 0, 0, 0, 250] as const
const LIVES_MS = [null, null, null, 700] as const
/** One of so many messages is appended again, under its key. */
const MESSAGES_TO_A_REPEAT = 4

interface Body {
  key: string
}

function open({ redis }: Site): Feed<Body> {
  return redis.feed<Body>('kept', { retention: KEPT })
}

function appending(site: Site, feed: Feed<Body>): () => Promise<unknown> {
  const { process, recorder, luck } = site
  let made = 0
  return async () => {
    const key = `${process}-${++made}`
    const [delayMs, livesMs] = [oneOf(luck, DELAYS_MS), oneOf(luck, LIVES_MS)]
    const options = {
      idempotencyKey: key,
      ...(delayMs > 0 ? { delay: `${delayMs}ms` as const } : {}),
      ...(livesMs === null ? {} : { ttl: `${livesMs}ms` as const }),
    }
    const append = (what: string): Promise<unknown> =>
      recorder.call(
        { what, key, given: { delayMs, livesMs } },
        () => feed.append({ key }, options),
        ({ id }) => ({ id }),
      )
    const appended = await append('append')
    if (appended !== null && between(luck, 1, MESSAGES_TO_A_REPEAT) === 1) await append('append again')
  }
}

/** A page of the newest messages: each was there when the page was requested. */
function looking({ recorder }: Site, feed: Feed<Body>): () => Promise<unknown> {
  let after: { after: string } | undefined
  return () =>
    recorder.call(
      { what: 'page' },
      async () => {
        const page = await feed.read({ limit: 20, ...after })
        after = { after: page.next }
        return page.messages
      },
      (messages) => ({ keys: messages.map(({ body }) => body.key) }),
    )
}

export const feedOptions: Workload = {
  async work(site) {
    const feed = open(site)
    await Promise.all([
      repeat(site, 60, appending(site, feed)),
      repeat(site, 150, looking(site, feed)),
      follow(site, feed),
    ])
  },
  /** By then all delays are over, and an append has removed what is too much. */
  async look(site) {
    const feed = open(site)
    await sleep(2 * Math.max(...DELAYS_MS))
    await feed.read()
    await site.recorder.call({ what: 'append', key: 'the last' }, () => feed.append({ key: 'the last' }))
    await readAll(site, feed)
  },
}
