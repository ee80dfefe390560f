// Waits for the end of a job in any process. The server notifies the waiter, which also polls now and then.

import { type AwaitEndAnswer, awaitEnd } from '../../generated/queue.ts'
import { checkText } from '../../runtime/values/arguments.ts'
import { type Opening, openWithin } from '../../runtime/subscriptions/open-within.ts'
import { unlessAborted } from '../../runtime/time/in-time.ts'
import { isSoon } from '../../runtime/time/in-turn.ts'
import { lastWord } from '../../runtime/calls/last-word.ts'
import type { SharedPost } from '../../runtime/subscriptions/mailbox.ts'
import { type Look, lookOrSleep } from '../../runtime/waiting/look-or-sleep.ts'
import { learnNotifyChannel } from '../../runtime/waiting/notify-channel.ts'
import type { Unit } from '../../runtime/connection/unit.ts'
import { toWaitMs, type Waiting } from '../../runtime/waiting/wait.ts'
import type { QueueSource } from '../source/source.ts'
import { PartReader, type UndecodablePart } from '../source/job-parts.ts'

/** How a job ended. */
export interface JobEnd {
  /** `absent`: the job is not known, or its end was not kept. */
  readonly state: 'done' | 'dead' | 'cancelled' | 'absent'
  /** The result that it was acked with; null when there is none, or it is not done. */
  readonly result: unknown
  /** Why the job is dead; else null. */
  readonly failure: { readonly kind: string; readonly message: string } | null
  /** Lists the result when the codec could not read it; `result` is null then. Else empty. */
  readonly undecodable: readonly UndecodablePart[]
}

const RECHECKS = { heardMs: 10_000, unheardMs: 500 }

export const ABSENT: JobEnd = { state: 'absent', result: null, failure: null, undecodable: [] }
const NO_WAITER = { waiter: '', leaves: false, number: 0, sinceMs: 0, comes: false }

type Asked = Omit<Parameters<typeof awaitEnd.encode>[0], 'codec'>
type Waits = Extract<AwaitEndAnswer, { status: 'waits' }>

/** Null when the job had not ended after `wait`. Throws the signal's reason, InvalidArgumentError. */
export async function waitForEnd(source: QueueSource, id: string, waiting: Waiting): Promise<JobEnd | null> {
  const [waitMs, { signal }] = [toWaitMs(waiting), waiting]
  signal?.throwIfAborted()
  const endsAt = performance.now() + waitMs
  // `comes` makes the server keep the end of the job until this waiter has subscribed.
  const asking = ask(source, { ...NO_WAITER, id: checkText('id', id, 512), comes: waitMs > 0 })
  const first = await unlessAborted(asking, signal)
  if (first.status !== 'waits') return toEnd(source, first)
  if (waitMs === 0) return null
  const opening = await hearTogether(source.unit, first.number, endsAt, signal)
  const asked: Asked = { ...NO_WAITER, id: first.id, number: first.number, sinceMs: first.nowMs }
  const names = new Set<string>()
  let end: JobEnd | null | undefined
  try {
    end = await askOrSleep(source, asked, { opening, names, endsAt, signal })
    return end
  } finally {
    // Other waiters share this name: it stays until the last of them leaves.
    if (opening.now?.isLast === false) names.delete(opening.now.id)
    opening.close()
    // The server should not notify waiters that have left. A server that is away is not waited for twice.
    const leaving = end ? [] : [...names].map((waiter) => leave(source, { ...asked, waiter }, signal))
    if (end === null) await Promise.all(leaving)
  }
}

interface Stand {
  readonly opening: Opening<SharedPost>
  /** The names under which the server notifies this waiter. */
  readonly names: Set<string>
  readonly endsAt: number
  readonly signal: AbortSignal | undefined
}

async function askOrSleep(
  source: QueueSource,
  asked: Asked,
  { opening, names, endsAt, signal }: Stand,
): Promise<JobEnd | null> {
  const { runner, mailbox } = source.unit.runtime
  const own = mailbox.newId()
  const look = async (post: SharedPost | null): Promise<Look<JobEnd | null>> => {
    const waiter = post?.id ?? own
    names.add(waiter)
    const answer = await ask(source, { ...asked, waiter })
    const value = answer.status === 'waits' ? null : toEnd(source, answer)
    return { value, found: value !== null, recheckMs: 0 }
  }
  return lookOrSleep(look, { opening, endsAt, rechecks: RECHECKS, deadlines: runner.deadlines, signal })
}

function leave(source: QueueSource, asked: Asked, signal: AbortSignal | undefined): Promise<void> {
  const leaving = ask(source, { ...asked, leaves: true }, 'gives back').catch(() => undefined)
  return lastWord(isSoon(leaving), source.unit.runtime.runner, signal)
}

function ask({ unit, codec }: QueueSource, asked: Asked, atClose?: 'gives back'): Promise<AwaitEndAnswer> {
  return unit.run(awaitEnd, { codec: codec.name, ...asked }, atClose && { atClose })
}

function toEnd({ codec }: QueueSource, answer: Exclude<AwaitEndAnswer, Waits>): JobEnd {
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

/**
 * All waiters of this process for one job share a name, because the server notifies only a few names a job. The
 * subscription opens late when it takes long, or is refused at first. Rejects with the signal's reason.
 */
async function hearTogether(
  unit: Unit,
  number: number,
  endsAt: number,
  signal: AbortSignal | undefined,
): Promise<Opening<SharedPost>> {
  const { channel } = await learnNotifyChannel(unit)
  const { mailbox } = unit.runtime
  const open = () => mailbox.expectShared(channel, `${unit.prefix} ${number}`)
  return openWithin(mailbox.reopeningAt(unit.node), open, endsAt - performance.now(), signal)
}
