// Chooses the partition of a message.

import { checkOptions } from '../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { errorOfPart, failureOf } from '../runtime/iteration/in-parts.ts'
import { partitionOf } from '../runtime/partitions/partition-hash.ts'
import { type Appended, Appender } from './appender.ts'
import type { FeedTerms } from './feed-options.ts'
import { toPartitionedId } from './addresses.ts'
import { type AppendOptions, checkNewMessage, type OutgoingMessage } from './new-message.ts'
import type { Partitions } from './partitions.ts'

export interface PartitionedAppendOptions extends AppendOptions {
  /** Messages of one key share a partition and so keep their order. Default: each partition in turn. */
  key?: string
}

export interface NewPartitionedMessage<Body> extends PartitionedAppendOptions {
  /** The body; at most 4 MiB when encoded. */
  body: Body
}

export interface PartitionedAppended {
  readonly id: string
  readonly partition: number
  /** True when the idempotency key was known: nothing was appended, and `id` is that of the first message. */
  readonly duplicate: boolean
}

/** The messages for one partition, and their indices in the caller's list. */
interface Share {
  readonly messages: OutgoingMessage[]
  readonly places: number[]
}

export const PARTITIONED_APPEND_OPTIONS = ['key', 'ttl', 'delay', 'idempotencyKey'] as const
const MESSAGE_OPTIONS = ['body', ...PARTITIONED_APPEND_OPTIONS] as const

export class MessageRouter<Body> {
  readonly #appenders: readonly Appender<Body>[]
  #turn: number

  constructor(partitions: Partitions<Body>, terms: FeedTerms) {
    this.#appenders = partitions.all.map((source) => new Appender(source, terms))
    this.#turn = Math.floor(Math.random() * this.#appenders.length)
  }

  async append(body: Body, { key, ...options }: PartitionedAppendOptions): Promise<PartitionedAppended> {
    const partition = this.#route(key, options.idempotencyKey, this.#takeTurn())
    const appender = this.#at(partition)
    return toPartitioned(partition, await appender.append(appender.prepare(body, options)))
  }

  async appendMany(messages: readonly NewPartitionedMessage<Body>[]): Promise<PartitionedAppended[]> {
    const shares = this.#share(messages)
    const results: PartitionedAppended[] = []
    const settled = await Promise.allSettled(
      [...shares].map(async ([partition, { messages: own, places }]) => {
        const appended = await this.#at(partition).appendMany(own)
        places.forEach((place, at) => {
          results[place] = toPartitioned(partition, appended[at] as Appended)
        })
      }),
    )
    const failed = failureOf(settled)
    if (failed !== undefined) {
      const done = results.filter(Boolean).length
      throw errorOfPart('messages', done, messages.length, failed.reason)
    }
    return results
  }

  /** Groups messages by partition, and checks all of them before any is sent. */
  #share(messages: readonly NewPartitionedMessage<Body>[]): Map<number, Share> {
    if (!Array.isArray(messages)) throw new InvalidArgumentError('messages', 'must be a list')
    const shares = new Map<number, Share>()
    const turn = this.#takeTurn()
    for (const [place, message] of messages.entries()) {
      checkOptions('message', message, MESSAGE_OPTIONS)
      const { key, ...own } = message
      checkNewMessage(own)
      const partition = this.#route(key, own.idempotencyKey, turn)
      const share = shares.get(partition) ?? { messages: [], places: [] }
      shares.set(partition, share)
      share.messages.push(this.#at(partition).prepare(own.body, own))
      share.places.push(place)
    }
    return shares
  }

  // A repeated message must go to the partition that knows its idempotency key.
  #route(key: string | undefined, idempotencyKey: string | undefined, turn: number): number {
    const decisive = key ?? idempotencyKey
    return decisive === undefined ? turn : partitionOf(decisive, this.#appenders.length)
  }

  #takeTurn(): number {
    this.#turn = (this.#turn + 1) % this.#appenders.length
    return this.#turn
  }

  #at(partition: number): Appender<Body> {
    return this.#appenders[partition] as Appender<Body>
  }
}

function toPartitioned(partition: number, { id, duplicate }: Appended): PartitionedAppended {
  return { id: toPartitionedId(partition, id), partition, duplicate }
}
