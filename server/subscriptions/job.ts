// What waits to be sent to a subscriber: a message, or the question whether it wants any.
// The body of a message stays the text that was posted.

import { findMember } from '../zaqar/json-slices.ts'

interface Common {
  readonly subscription: string
  /** Of that subscription: one with the same id that was made later does not get it. */
  readonly key: string
  /** How often it has been tried before. */
  readonly retries: number
}

export interface Push extends Common {
  readonly kind: 'message'
  readonly message: string
  readonly ttl: number
  /** JSON text. */
  readonly body: string
}

export interface Question extends Common {
  /** What the subscriber is told: that it may confirm, or that it gets nothing any more. */
  readonly kind: 'confirm' | 'farewell'
  /** Unlike that of every other question. */
  readonly message: string
}

export type Job = Push | Question

export function encodeJob(job: Job): string {
  if (job.kind !== 'message') return JSON.stringify(job)
  const { body, ...rest } = job
  return `${JSON.stringify(rest).slice(0, -1)},"body":${body}}`
}

export function decodeJob(text: string): Job {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- encodeJob wrote it
  const job = JSON.parse(text) as Job
  if (job.kind !== 'message') return job
  const body = findMember(text, 0, 'body')
  return { ...job, body: body === null ? 'null' : text.slice(body.from, body.to) }
}

/** The same try is stored once, however often it is asked for. */
export function idempotencyKeyOf({ key, message, retries }: Job): string {
  return `${key} ${message} ${retries}`
}
