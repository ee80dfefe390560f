import { inspect, settle } from '../generated/feed.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import { type Message, type Source, toEntry, toMarker, type UndecodableMessage } from './message.ts'

/** A picture of a feed. The counts are exact at one instant; where things come due all the time, but for what has in the last moment. */
export interface FeedInspection<Body> {
  /** False when the feed does not exist; it begins with its first message. */
  readonly exists: boolean
  /** All messages: free + claimed + delayed. */
  readonly total: number
  readonly free: number
  readonly claimed: number
  readonly delayed: number
  /** Of all bodies that are visible. */
  readonly bytes: number
  readonly deadLetters: number
  /** Live claims. */
  readonly claims: number
  readonly subscribers: number
  /** The subscribers furthest behind, at most a hundred. */
  readonly furthestBehind: readonly { name: string; marker: string; protected: boolean }[]
  readonly oldest: Message<Body> | UndecodableMessage | null
  readonly newest: Message<Body> | UndecodableMessage | null
  /** The position of the newest message. */
  readonly end: string
  /** Of the bodies; null when the feed does not exist. */
  readonly codec: string | null
}

/** Where so much comes due that something always is, the picture is taken all the same. */
const MOST_TRIES = 10

/** Settles what is due and takes the picture. */
export async function inspectFeed<Body>(source: Source<Body>): Promise<FeedInspection<Body>> {
  const { unit, codec } = source
  const { deadlineMs } = unit.runtime.runner
  const by = performance.now() + deadlineMs
  // The rest is for the picture.
  const settlesUntil = by - deadlineMs / 2
  let answer = await unit.run(inspect, { codec: codec.name }, { by })
  for (let tries = 1; answer.due && tries < MOST_TRIES && performance.now() < settlesUntil; tries++) {
    await Promise.all([unit, unit.beside('dead')].map((each) => settleAll(each, settlesUntil, by)))
    answer = await unit.run(inspect, { codec: codec.name }, { by })
  }
  const { epoch, total, claimed, delayed, ends } = answer
  const [oldest = null, newest = null] = ends.map((stored) =>
    toEntry(answer, stored, codec, stored.token === 0 ? null : stored.token),
  )
  const furthestBehind = answer.readers.map(({ position, ...reader }) => ({
    ...reader,
    marker: toMarker(epoch, position),
  }))
  return {
    exists: epoch !== 0,
    total,
    free: total - claimed - delayed,
    claimed,
    delayed,
    bytes: answer.bytes,
    deadLetters: answer.dead,
    claims: answer.claims,
    subscribers: answer.subscribers,
    furthestBehind,
    oldest,
    newest,
    end: toMarker(epoch, answer.last),
    codec: epoch === 0 ? null : answer.codec,
  }
}

/** Does everything that time has made due, in bounded steps, as far as it gets until then. */
async function settleAll(unit: Unit, until: number, by: number): Promise<void> {
  for (;;) {
    const { more } = await unit.run(settle, { channel: unit.channel, sharded: unit.sharded }, { by })
    if (!more || performance.now() >= until) return
  }
}
