// One attempt at a job: the proof of its lease, and why it lost the job.

import { sizeOfEncoded } from '../../runtime/values/codec.ts'
import { note } from '../../generated/queue.ts'
import type { BatchTerms, SendBatch } from '../../runtime/calls/batcher.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { checkText } from '../../runtime/values/arguments.ts'
import type { QueueSource } from '../source/source.ts'

/** Identifies the lease of an attempt. */
export interface Leased {
  /** The number of the job in the scripts. */
  readonly number: string
  /** Greater than that of every earlier attempt at any job of the queue. */
  readonly token: number
}

export type LossReason = 'lost' | 'retried' | 'dead' | 'cancelled' | 'acked' | 'absent'

/** Why jobs of a call were refused, by their index in the call. */
export function reasonsOf(
  refused: readonly { readonly at: number; readonly why: string }[],
): ReadonlyMap<number, LossReason> {
  return new Map(refused.map(({ at, why }) => [at, why as LossReason]))
}

// Notes about running jobs: their progress, and lines of their logs. The notes of one tick share one call.

export interface Note {
  /** The number of the job, or its own id. */
  readonly number: string
  /** 0 for a caller without a lease, who can only add log lines. */
  readonly token: number
  readonly what: 'progress' | 'log'
  readonly value: string | Uint8Array
}

const MAX_LINE_BYTES = 1024
const MAX_PROGRESS_BYTES = 64 * 1024
// Each note may have to copy a whole log.
const NOTES: BatchTerms = {
  name: note.script.name,
  items: 100,
  bytes: 1024 * 1024,
  underWay: 2,
  waiting: 100_000,
}

/** Resolves to null when it is stored, else to the reason why not. */
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

/** Throws InvalidArgumentError, and what the codec throws for a value that it cannot encode. */
export function encodeProgress(value: unknown, { codec }: QueueSource): string | Uint8Array {
  const encoded = codec.encode(value)
  sizeOfEncoded('progress', encoded, MAX_PROGRESS_BYTES)
  return encoded
}

/** Longer lines are cut. Throws InvalidArgumentError. */
export function toLine(line: unknown): string {
  if (typeof line !== 'string') throw new InvalidArgumentError('line', 'must be a text')
  return Buffer.byteLength(line) <= MAX_LINE_BYTES
    ? line
    : Buffer.from(line).toString('utf8', 0, MAX_LINE_BYTES)
}

/** Adds a log line without a lease. Resolves to false when there is no such job. Throws InvalidArgumentError. */
export async function logLine(source: QueueSource, id: string, line: string): Promise<boolean> {
  const number = checkText('id', id, 512)
  return (await sendNote(source, { number, token: 0, what: 'log', value: toLine(line) })) === null
}
