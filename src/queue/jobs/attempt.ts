// One attempt at one job: what holds its lease, and why it lost the job.

import { note } from '../../generated/queue.ts'
import type { BatchTerms, SendBatch } from '../../runtime/calls/batcher.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { checkText } from '../../runtime/values/arguments.ts'
import type { QueueSource } from '../source/source.ts'

/** What a lease needs to be kept. */
export interface Leased {
  /** What the scripts call the job. */
  readonly number: string
  /** Greater than that of every earlier attempt at any job of the queue. */
  readonly token: number
}

export type LossReason = 'lost' | 'retried' | 'dead' | 'cancelled' | 'acked' | 'absent'

/** Why jobs of a call were refused, by their places. */
export function reasonsOf(
  refused: readonly { readonly at: number; readonly why: string }[],
): ReadonlyMap<number, LossReason> {
  return new Map(refused.map(({ at, why }) => [at, why as LossReason]))
}

// What is told of jobs while they are at work: how far they have come, and lines in their logs. Those of one tick travel in
// one call.

export interface Note {
  /** The number of the job, or its own id. */
  readonly number: string
  /** 0: anybody's; only lines. */
  readonly token: number
  readonly what: 'progress' | 'log'
  readonly value: string | Uint8Array
}

const MAX_LINE_BYTES = 1024
const MAX_PROGRESS_BYTES = 64 * 1024
// Of each a log may have to be copied.
const NOTES: BatchTerms = {
  name: note.script.name,
  items: 100,
  bytes: 1024 * 1024,
  underWay: 2,
  waiting: 100_000,
}

/** Null: it is noted; else why not. */
export function sendNote(source: QueueSource, noted: Note): Promise<LossReason | null> {
  const { unit, codec } = source
  const send: SendBatch<Note, LossReason | null> = async (notes, by) => {
    const { refused } = await unit.runOnce(note, (id) => ({ codec: codec.name, ...id, notes }), { by })
    const reasons = reasonsOf(refused)
    return notes.map((_, at) => reasons.get(at) ?? null)
  }
  const batcher = unit.runtime.batcher<Note, LossReason | null>(
    `${unit.channel} ${codec.name} notes`,
    NOTES,
    send,
  )
  return batcher.addOne(noted, Buffer.byteLength(noted.value))
}

/** Throws InvalidArgumentError, and what the codec throws when it cannot hold the value. */
export function encodeProgress(value: unknown, { codec }: QueueSource): string | Uint8Array {
  const encoded = codec.encode(value)
  if (Buffer.byteLength(encoded) > MAX_PROGRESS_BYTES) {
    throw new InvalidArgumentError('progress', `must be at most ${MAX_PROGRESS_BYTES} bytes when encoded`)
  }
  return encoded
}

/** Longer lines are cut. Throws InvalidArgumentError. */
export function toLine(line: unknown): string {
  if (typeof line !== 'string') throw new InvalidArgumentError('line', 'must be a text')
  return Buffer.byteLength(line) <= MAX_LINE_BYTES
    ? line
    : Buffer.from(line).toString('utf8', 0, MAX_LINE_BYTES)
}

/** A line of anybody. False where there is no such job. Throws InvalidArgumentError. */
export async function logLine(source: QueueSource, id: string, line: string): Promise<boolean> {
  const number = checkText('id', id, 512)
  return (await sendNote(source, { number, token: 0, what: 'log', value: toLine(line) })) === null
}
