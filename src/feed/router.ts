// Which partition gets a message.

import { checkOptions } from '../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { errorOfPart, failureOf } from '../runtime/iteration/in-parts.ts'
import { partitionOf } from '../runtime/partitions/partition-hash.ts'
import type { Appended } from './appender.ts'
import { type AppendOptions, checkNewMessage, type NewMessage, toOutgoing } from './new-message.ts'
import { toPartitionedId } from './partition-message.ts'
import type { Partition, PartitionSet } from './partitions.ts'

export interface PartitionedAppendOptions extends AppendOptions {
  /** Messages of one key share a partition, and so keep their order; default: each partition in turn. */
  key?: string
}

export interface NewPartitionedMessage<Body> extends PartitionedAppendOptions {
  body: Body
}

export interface PartitionedAppended {
  readonly id: string
  readonly partition: number
  /** True when its idempotency key was known: nothing was appended, `id` is that of the first. */
  readonly duplicate: boolean
}

/** Messages that go to one partition, and their places in the list they came in. */
interface Share<Body> {
  readonly partition: Partition<Body>
  readonly messages: NewMessage<Body>[]
  readonly places: number[]
}

export class PartitionAppender<Body> {
  readonly #partitions: PartitionSet<Body>
  #turn: number

  constructor(partitions: PartitionSet<Body>) {
    this.#partitions = partitions
    this.#turn = Math.floor(Math.random() * partitions.count)
  }

  async append(body: Body, { key, ...options }: PartitionedAppendOptions): Promise<PartitionedAppended> {
    const partition = this.#partitions.at(this.#route(key, options.idempotencyKey, this.#takeTurn()))
    const appended = await partition.feed.append(body, options)
    return toPartitioned(partition, appended)
  }

  async appendMany(messages: readonly NewPartitionedMessage<Body>[]): Promise<PartitionedAppended[]> {
    const shares = this.#share(messages)
    const results: PartitionedAppended[] = []
    const settled = await Promise.allSettled(
      shares.map(async ({ partition, messages: own, places }) => {
        const appended = await partition.feed.appendMany(own)
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

  /** Sorts messages by partition, and checks all of them before any is sent. */
  #share(messages: readonly NewPartitionedMessage<Body>[]): Share<Body>[] {
    if (!Array.isArray(messages)) throw new InvalidArgumentError('messages', 'must be a list')
    const shares = new Map<number, Share<Body>>()
    const turn = this.#takeTurn()
    for (const [place, message] of messages.entries()) {
      checkOptions('message', message, MESSAGE_OPTIONS)
      const { key, ...own } = message
      checkNewMessage(own)
      const partition = this.#partitions.at(this.#route(key, own.idempotencyKey, turn))
      toOutgoing(partition.source, own.body, own, { expireMs: 0, origin: '' })
      const share = shares.get(partition.number) ?? { partition, messages: [], places: [] }
      shares.set(partition.number, share)
      share.messages.push(own)
      share.places.push(place)
    }
    return [...shares.values()]
  }

  // A message that is sent again must come to the partition that knows its idempotency key.
  #route(key: string | undefined, idempotencyKey: string | undefined, turn: number): number {
    const decisive = key ?? idempotencyKey
    return decisive === undefined ? turn : partitionOf(decisive, this.#partitions.count)
  }

  #takeTurn(): number {
    this.#turn = (this.#turn + 1) % this.#partitions.count
    return this.#turn
  }
}

export const APPEND_OPTIONS = ['key', 'expireAfter', 'delay', 'idempotencyKey'] as const
const MESSAGE_OPTIONS = ['body', ...APPEND_OPTIONS] as const

function toPartitioned<Body>({ number }: Partition<Body>, { id, duplicate }: Appended): PartitionedAppended {
  return { id: toPartitionedId(number, id), partition: number, duplicate }
}
