// The waiting pushes: one copy of each message of a queue that has subscribers, independent of the message itself. All
// subscriptions of the queue read it, each at its own pace.

import {
  type Appended,
  type Feed,
  jsonText,
  type Message,
  type NewMessage,
  type Page,
  type Perilune,
} from 'perilune'
import type { Limits } from '../settings/limits.ts'
import { feedName, type QueuePlace } from '../queues/place.ts'
import { findMember } from '../../json/slices.ts'
import { type Position, positionOf, visibleAtMs } from './position.ts'

/** The push of one message, as JSON text. */
export type Push = Message<string>

export interface PushesEnd {
  readonly position: Position
  /** When the first delayed one becomes visible; null if none is delayed. */
  readonly delayedUntilMs: number | null
}

export interface Trimmed {
  /** Whether any are left. */
  readonly left: boolean
  /** Whether more can be removed at once. */
  readonly more: boolean
}

const TRIMMED_AT_ONCE = 200
const MAX_TRIMS = 20

export class Pushes {
  readonly #perilune: Perilune
  readonly #ttl: `${number}s`

  constructor(perilune: Perilune, { maxMessageTtl }: Limits) {
    this.#perilune = perilune
    this.#ttl = `${maxMessageTtl}s`
  }

  /** Once this has resolved, confirmed subscriptions get all of these messages. */
  async append(
    place: QueuePlace,
    messages: readonly NewMessage<string>[],
    appended: readonly Appended[],
  ): Promise<void> {
    const pushes = messages.map(({ body, ttl = '0s', delay }, at) => ({
      body: encodePush(place.queue, appended[at]?.id ?? '', Number.parseInt(ttl, 10), body),
      ...(delay === undefined ? {} : { delay }),
    }))
    await this.#feed(place).appendMany(pushes)
  }

  /** Those after a marker. */
  read(place: QueuePlace, marker: string, limit: number): Promise<Page<string>> {
    return this.#feed(place).read({ limit, ...(marker === '' ? {} : { after: marker }) })
  }

  /** Those that still exist. */
  async get(place: QueuePlace, ids: readonly string[]): Promise<readonly Push[]> {
    return (await this.#feed(place).get(ids)).messages
  }

  /** A marker after which nothing is visible yet. */
  async endMarker(place: QueuePlace): Promise<string> {
    return (await this.#feed(place).read({ after: 'end', limit: 1 })).next
  }

  async visibleEnd(place: QueuePlace): Promise<Position> {
    return positionOf(await this.endMarker(place))
  }

  async end(place: QueuePlace): Promise<PushesEnd> {
    const { next } = await this.#feed(place).read({ after: 'end', limit: 1, includeDelayed: true })
    return { position: positionOf(next), delayedUntilMs: visibleAtMs(next) }
  }

  /** Removes those up to a position, in bounded steps. */
  async trim(place: QueuePlace, floor: number): Promise<Trimmed> {
    const feed = this.#feed(place)
    for (let step = 0; step < MAX_TRIMS; step += 1) {
      const { messages } = await feed.read({ limit: step === 0 ? 1 : TRIMMED_AT_ONCE })
      const passed = messages.filter(({ cursor }) => cursor !== null && positionOf(cursor).at <= floor)
      if (passed.length === 0) return { left: messages.length > 0, more: false }
      await feed.remove(passed.map(({ id }) => id))
    }
    return { left: true, more: true }
  }

  async clear(place: QueuePlace): Promise<void> {
    await this.#feed(place).clear()
  }

  /** With an expiry, in case no subscription ever reads them. */
  #feed(place: QueuePlace): Feed<string> {
    return this.#perilune.feed(`webhooks/${feedName(place)}`, {
      codec: jsonText,
      ttl: this.#ttl,
    })
  }
}

/** The body stays the text that was posted. */
function encodePush(queue: string, id: string, ttl: number, body: string): string {
  return `{"Message_Type":"Notification","queue_name":"${queue}","id":"${id}","ttl":${ttl},"body":${body}}`
}

/** The posted body, and the id of its message. */
export function decodePush({ body: push }: Push): { id: string; body: string } {
  const [id, body] = ['id', 'body'].map((name) => {
    const found = findMember(push, 0, name)
    return found === null ? 'null' : push.slice(found.from, found.to)
  })
  return { id: (id ?? '').slice(1, -1), body: body ?? 'null' }
}
