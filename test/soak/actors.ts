// The actors of a soak: producers, observers and consumers, each pausing at random.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Claim } from 'perilune'
import { nowUs, type Recorder, type Role } from './history.ts'
import { seeded } from './random.ts'
import type { SoakedFeed } from './soaked-feed.ts'

export interface Part {
  by: string
  seed: number
  recorder: Recorder
  feeds: Record<Role, SoakedFeed>
}

/** Appends in bursts to both feeds, each message after the answer to the one before. */
export async function produce({ by, seed, recorder, feeds }: Part, forMs: number): Promise<void> {
  const random = seeded(seed)
  const endsAt = performance.now() + forMs
  for (let n = 1; performance.now() < endsAt; n++) {
    const feed = random() < 0.75 ? 'watched' : 'worked'
    const message = `${by}.${n}`
    const append = (): Promise<string> => feeds[feed].append(message)
    await recorder.follow({ by, op: 'append', feed, messages: [message] }, append, (id) => ({ id }))
    if (random() < 0.08) await sleep(random() * 300)
  }
}

/** Sees every message of the watched feed. */
export async function observe({ by, seed, recorder, feeds }: Part, signal: AbortSignal): Promise<void> {
  const random = seeded(seed)
  for await (const { message, id, lostBefore } of feeds.watched.follow(signal)) {
    recorder.saw(by, message, id, lostBefore)
    if (!signal.aborted && random() < 0.005) await sleep(random() * 100)
  }
}

/** Works on messages: most are acked, some given back, some held beyond the lease, some abandoned. */
export async function consume(part: Part, signal: AbortSignal): Promise<void> {
  const random = seeded(part.seed)
  while (!signal.aborted) {
    const leaseMs = Math.ceil(100 + random() * 400)
    const claim = await claimSome(part, leaseMs, Math.ceil(random() * 8))
    if (claim !== null) await workOn(part, claim, leaseMs, random)
  }
}

function claimSome(part: Part, leaseMs: number, limit: number): Promise<Claim<string> | null> {
  const options = { limit, lease: `${leaseMs}ms`, wait: '300ms' } as const
  return part.recorder.follow(
    { by: part.by, op: 'claim', feed: 'worked' },
    () => part.feeds.worked.claim(options),
    (claim) => ({
      token: claim.token,
      messages: claim.messages.map(({ body }) => body),
      ...terms(claim, leaseMs),
    }),
  )
}

async function workOn(
  part: Part,
  claim: Claim<string>,
  leaseMs: number,
  random: () => number,
): Promise<void> {
  const mood = random()
  await sleep(random() * Math.min(40, leaseMs / 4))
  if (mood < 0.1) return
  if (mood < 0.2) await sleep(leaseMs + random() * 60)
  if (mood < 0.35) await extend(part, claim, leaseMs + 100)
  if (mood > 0.85) await giveUp(part, claim, 'release', someOf(claim, random))
  await giveUp(part, claim, 'ack', mood < 0.55 ? someOf(claim, random) : claim.messages)
}

function extend({ by, recorder }: Part, claim: Claim<string>, leaseMs: number): Promise<true | null> {
  return recorder.follow(
    { by, op: 'extend', feed: 'worked', token: claim.token },
    () => claim.extend(`${leaseMs}ms`).then((): true => true),
    () => terms(claim, leaseMs),
  )
}

/** Acks messages or gives them back. */
function giveUp(
  { by, recorder }: Part,
  claim: Claim<string>,
  op: 'ack' | 'release',
  of: Claim<string>['messages'],
): Promise<readonly string[] | null> {
  if (of.length === 0) return Promise.resolve(null)
  const ids = of.map(({ id }) => id)
  return recorder.follow(
    { by, op, feed: 'worked', token: claim.token, messages: of.map(({ body }) => body) },
    async () => {
      if (op === 'ack') return (await claim.ack(ids)).map(({ id }) => id)
      await claim.release(ids)
      return []
    },
    (refused) => ({ refused: of.filter(({ id }) => refused.includes(id)).map(({ body }) => body) }),
  )
}

/** The holder's assumption, and the latest possible truth; the clock is read first to be cautious. */
function terms(claim: Claim<string>, leaseMs: number): { until: number; endsBy: number } {
  const now = nowUs()
  return { until: now + Math.floor(claim.remainingMs * 1000), endsBy: now + leaseMs * 1000 }
}

function someOf({ messages }: Claim<string>, random: () => number): Claim<string>['messages'] {
  return messages.filter(() => random() < 0.6)
}
