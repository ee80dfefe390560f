// Waiting for the end of a job, wherever it is done. Whoever waits is told by letter, and looks by itself now and then.

import { type AwaitEndAnswer, awaitEnd } from '../generated/queue.ts'
import { checkText } from '../runtime/arguments.ts'
import { longestSleepMs } from '../runtime/hearing.ts'
import { openWithin, rest, unlessAborted } from '../runtime/in-time.ts'
import { isSoon } from '../runtime/in-turn.ts'
import { lastWord } from '../runtime/last-word.ts'
import type { Post, SharedPost } from '../runtime/mailbox.ts'
import { learnTold } from '../runtime/told.ts'
import type { Unit } from '../runtime/unit.ts'
import { toWaitMs, type Waiting } from '../runtime/wait.ts'
import type { Failure } from './claimed-job.ts'
import type { Source } from './source.ts'
import { PartReader, type UndecodablePart } from './undecodable.ts'

/** How a job ended. */
export interface JobEnd {
  /** `absent`: it is not known, or how it ended was not kept. */
  readonly state: 'done' | 'dead' | 'cancelled' | 'absent'
  /** What its worker gave; null: nothing, or it is not done. */
  readonly result: unknown
  /** Why it is dead; else null. */
  readonly failure: Failure | null
  /** The result, where the codec could not read it; it is null above. Empty: it could. */
  readonly undecodable: readonly UndecodablePart[]
}

const RECHECKS = { heardMs: 10_000, unheardMs: 500 }

export const ABSENT: JobEnd = { state: 'absent', result: null, failure: null, undecodable: [] }
const NOBODY = { waiter: '', leaves: false, number: 0, sinceMs: 0, comes: false }

type Asked = Omit<Parameters<typeof awaitEnd.encode>[0], 'codec'>
type Waits = Extract<AwaitEndAnswer, { status: 'waits' }>

/** Null when the job had not ended after `wait`. Throws the signal's reason, InvalidArgumentError. */
export async function waitForEnd(source: Source, id: string, waiting: Waiting): Promise<JobEnd | null> {
  const [waitMs, { signal }] = [toWaitMs(waiting), waiting]
  signal?.throwIfAborted()
  const endsAt = performance.now() + waitMs
  // Until it is heard how the job ends, that is kept.
  const asking = ask(source, { ...NOBODY, id: checkText('id', id, 512), comes: waitMs > 0 })
  const first = await unlessAborted(asking, signal)
  if (first.status !== 'waits') return toEnd(source, first)
  if (waitMs === 0) return null
  const post = await hearTogether(source.unit, first.number, endsAt, signal)
  const waiter = post?.id ?? source.unit.runtime.mailbox.newId()
  const asked: Asked = { ...NOBODY, id: first.id, waiter, number: first.number, sinceMs: first.nowMs }
  let end: JobEnd | null | undefined
  try {
    end = await askOrSleep(source, asked, { post, endsAt, signal })
    return end
  } finally {
    const isLast = post?.isLast ?? true
    post?.close()
    // Nobody must be told in vain. A server that is away is not waited for twice.
    const leaving = isLast && !end ? leave(source, asked, signal) : null
    if (end === null) await leaving
  }
}

interface Stand {
  readonly post: Post | null
  readonly endsAt: number
  readonly signal: AbortSignal | undefined
}

async function askOrSleep(
  source: Source,
  asked: Asked,
  { post, endsAt, signal }: Stand,
): Promise<JobEnd | null> {
  const { deadlines } = source.unit.runtime.runner
  for (;;) {
    signal?.throwIfAborted()
    const answer = await unlessAborted(ask(source, asked), signal)
    if (answer.status !== 'waits') return toEnd(source, answer)
    const leftMs = Math.ceil(endsAt - performance.now())
    if (leftMs <= 0) return null
    const ms = Math.min(leftMs, longestSleepMs(post, RECHECKS))
    await (post === null ? rest(ms, deadlines, signal) : post.next(ms, signal))
  }
}

function leave(source: Source, asked: Asked, signal: AbortSignal | undefined): Promise<void> {
  const leaving = ask(source, { ...asked, leaves: true }, 'gives back').catch(() => undefined)
  return lastWord(isSoon(leaving), source.unit.runtime.runner, signal)
}

function ask({ unit, codec }: Source, asked: Asked, atClose?: 'gives back'): Promise<AwaitEndAnswer> {
  return unit.run(awaitEnd, { codec: codec.name, ...asked }, atClose && { atClose })
}

function toEnd({ codec }: Source, answer: Exclude<AwaitEndAnswer, Waits>): JobEnd {
  if (answer.status !== 'ended') return ABSENT
  const { state, kind, message, result } = answer
  const reader = new PartReader(codec)
  return {
    state: state as JobEnd['state'],
    result: reader.readAny('result', result),
    failure: state === 'dead' ? { kind, message } : null,
    undecodable: reader.undecodable,
  }
}

/** Null where listening is forbidden, or takes too long. Rejects with the signal's reason. */
export async function hear(
  unit: Unit,
  id: string,
  endsAt: number,
  signal: AbortSignal | undefined,
): Promise<Post | null> {
  const { channel } = await learnTold(unit)
  return openWithin(unit.runtime.mailbox.expect(channel, id), endsAt - performance.now(), signal)
}

/** As `hear`, by one name with all in this process who wait for the end of that job: the server tells few names. */
async function hearTogether(
  unit: Unit,
  number: number,
  endsAt: number,
  signal: AbortSignal | undefined,
): Promise<SharedPost | null> {
  const { channel } = await learnTold(unit)
  const opening = unit.runtime.mailbox.expectShared(channel, `${unit.prefix} ${number}`)
  return openWithin(opening, endsAt - performance.now(), signal)
}
