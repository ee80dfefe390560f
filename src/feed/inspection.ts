import { inspect, settle } from '../generated/feed.ts'
import type { Unit } from '../runtime/unit.ts'
import { type Message, type Source, toEntry, toMarker, type UndecodableMessage } from './message.ts'

/** A picture of a feed. The counts are exact at one instant. */
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

/** Settles what is due and takes the picture. */
export async function inspectFeed<Body>(source: Source<Body>): Promise<FeedInspection<Body>> {
  const { unit, codec } = source
  const answer = await unit.run(inspect, { codec: codec.name })
  if (answer.due) {
    await Promise.all([settleAll(unit), settleAll(unit.beside('dead'))])
    return inspectFeed(source)
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

/** Does everything that time has made due, in bounded steps. */
async function settleAll(unit: Unit): Promise<void> {
  for (;;) {
    const { more } = await unit.run(settle, { channel: unit.channel, sharded: unit.sharded })
    if (!more) return
  }
}
