// Batches the appends of one tick into one script call. The messages of one `appendMany` stay together, so that no
// other message comes between them; more than one call can carry are sent as several calls.

import { type AppendAlikeArguments, type AppendAnswer, append, appendAlike } from '../generated/feed.ts'
import type { Batcher, BatchTerms, SendBatch } from '../runtime/calls/batcher.ts'
import type { CallId } from '../runtime/calls/call-ids.ts'
import { inGroups } from '../runtime/iteration/in-groups.ts'
import { errorOfPart } from '../runtime/iteration/in-parts.ts'
import type { RunInSlot } from '../runtime/connection/unit.ts'
import type { FeedTerms } from './feed-options.ts'
import { microsText } from './addresses.ts'
import {
  type AppendOptions,
  areAlike,
  MAX_BODY_BYTES,
  mayDecline,
  type OutgoingMessage,
  toOutgoing,
} from './new-message.ts'
import type { FeedSource } from './partitions.ts'

export interface Appended {
  /** The id of the message. */
  readonly id: string
  /** The position directly after the message; null when the message is delayed or a duplicate. */
  readonly cursor: string | null
  /** True when the idempotency key was known: nothing was appended, and `id` is that of the first message. */
  readonly duplicate: boolean
  /** True when this call created the feed. */
  readonly began: boolean
}

const BATCHES: BatchTerms = {
  name: append.script.name,
  items: 1000,
  bytes: MAX_BODY_BYTES,
  underWay: 2,
  waiting: 100_000,
}
const SLOW_BATCHES = 16

/** Appends for one handle of a feed; handles of one feed with the same terms share their batches. */
export class Appender<Body> {
  readonly #source: FeedSource<Body>
  readonly #terms: FeedTerms
  readonly #batch: string
  readonly #keepsAll: boolean
  readonly #send: SendBatch<OutgoingMessage, Appended>
  /** The number of batches that skip the fast path, because the feed would decline it at the cost of a call. */
  #slowly = 1

  constructor(source: FeedSource<Body>, terms: FeedTerms) {
    const { retention } = terms
    this.#source = source
    this.#terms = terms
    this.#batch = `${source.unit.channel} ${source.spread} ${source.codec.name} ${Object.values(retention).join(' ')}`
    this.#keepsAll = retention.retentionCount + retention.retentionMs + retention.retentionBytes === 0
    this.#send = (messages, by) => this.#sendBatch(messages, by)
  }

  /** Throws InvalidArgumentError. */
  prepare(body: Body, options: AppendOptions): OutgoingMessage {
    return toOutgoing(this.#source, body, options, this.#terms)
  }

  append(message: OutgoingMessage): Promise<Appended> {
    return this.#batcher().addOne(message, message.bytes)
  }

  /** Appends messages in as few script calls as their number and size allow. */
  async appendMany(messages: readonly OutgoingMessage[]): Promise<Appended[]> {
    if (messages.length === 1) return [await this.append(messages[0] as OutgoingMessage)]
    const results: Appended[] = []
    try {
      for (const group of inGroups(messages, BATCHES)) {
        const bytes = group.reduce((sum, message) => sum + message.bytes, 0)
        results.push(...(await this.#batcher().add(group, bytes)))
      }
    } catch (error) {
      throw errorOfPart('messages', results.length, messages.length, error)
    }
    return results
  }

  #batcher(): Batcher<OutgoingMessage, Appended> {
    return this.#source.unit.runtime.batcher(this.#batch, BATCHES, this.#send)
  }

  #sendBatch(messages: OutgoingMessage[], by: number): Promise<Appended[]> {
    if (this.#slowly > 0 || !this.#keepsAll || !areAlike(messages) || mayDecline(messages)) {
      this.#slowly -= 1
      return this.#source.unit.inSlot((run) => this.#appendAny(run, messages, by), { by })
    }
    return this.#source.unit.inSlot((run) => this.#appendAlike(run, messages, by), { by })
  }

  /** The fast path. A feed declines it while other work is due first, which may change soon. */
  async #appendAlike(run: RunInSlot, messages: OutgoingMessage[], by: number): Promise<Appended[]> {
    const [{ ttlMs, origin }] = messages as [OutgoingMessage]
    const answer = await run(appendAlike, (id) => ({
      ...this.#common(id),
      ttlMs,
      origin,
      bodies: messages.map(({ body }) => body),
    }))
    if (answer.status === 'appended') {
      return toAppended({ ...answer, created: false, duplicates: [] }, messages)
    }
    this.#slowly = SLOW_BATCHES
    return this.#appendAny(run, messages, by)
  }

  async #appendAny(run: RunInSlot, messages: OutgoingMessage[], by: number, proof = ''): Promise<Appended[]> {
    const answer = await run(append, (id) => ({
      ...this.#terms.retention,
      ...this.#common(id),
      proof,
      messages,
    }))
    if (answer.status === 'appended') return toAppended(answer, messages)
    const { agreement, unit } = this.#source
    if (agreement === null) throw new TypeError('a feed without partitions has no partition count to prove')
    return this.#appendAny(run, messages, by, await agreement.prove(unit, by))
  }

  #common({ caller, call }: CallId): Common {
    const { unit, codec, spread } = this.#source
    return {
      codec: codec.name,
      partitions: spread,
      caller,
      call,
      channel: unit.channel,
      sharded: unit.sharded,
    }
  }
}

type Common = Pick<AppendAlikeArguments, 'codec' | 'partitions' | 'caller' | 'call' | 'channel' | 'sharded'>

function toAppended(
  answer: Omit<Extract<AppendAnswer, { status: 'appended' }>, 'status'>,
  messages: readonly OutgoingMessage[],
): Appended[] {
  const { epoch, first, created: began } = answer
  const beginning = `${microsText(epoch)}-`
  const appended = messages.map(({ delayMs }, at) => {
    const id = microsText(first + at)
    return { id, cursor: delayMs > 0 ? null : beginning + id, duplicate: false, began }
  })
  for (const { at, id } of answer.duplicates) {
    appended[at] = { id: microsText(id), cursor: null, duplicate: true, began }
  }
  return appended
}
