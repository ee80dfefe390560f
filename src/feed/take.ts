// Messages that are taken out of a feed: a claim that is acked at once.

import { AmbiguousError } from '../runtime/errors/errors.ts'
import { inTheEnd } from '../runtime/time/in-the-end.ts'
import { isLoss } from '../runtime/errors/outage.ts'
import { toWaitMs, type Waiting } from '../runtime/waiting/wait.ts'

interface Taken<Message> {
  readonly messages: readonly Message[]
  readonly undecodable: readonly { readonly id: string }[]
  ack(): Promise<unknown>
  release(ids: readonly string[]): Promise<void>
}

/**
 * Claims until there is something, or nothing for `wait`. What nobody can read and stays in the claim (dead letters do) is held
 * meanwhile, so that what stands behind it is found, and given back in the end.
 */
export async function takeMessages<Message>(
  claim: (waiting: Waiting) => Promise<Taken<Message> | null>,
  options: Waiting,
): Promise<Message[]> {
  const endsAt = performance.now() + toWaitMs(options)
  const passed: Taken<Message>[] = []
  try {
    for (;;) {
      const wait = `${Math.max(0, Math.floor(endsAt - performance.now()))}ms` as const
      const taken = await claim({ ...options, wait })
      if (taken === null) return []
      if (taken.undecodable.length > 0) passed.push(taken)
      if (taken.messages.length === 0) continue
      await ackOrGoOn(taken)
      return [...taken.messages]
    }
  } finally {
    await Promise.all(passed.map(giveBack))
  }
}

/**
 * Where nobody says whether it was acked, whoever takes has the messages all the same: if it was, nobody else will. That they are done is
 * said again until it is known, or the claim has ended.
 */
async function ackOrGoOn(taken: Taken<unknown>): Promise<void> {
  try {
    await taken.ack()
  } catch (error) {
    if (!(error instanceof AmbiguousError)) throw error
    void inTheEnd(() => taken.ack(), error, isLoss)
  }
}

/** What became a dead letter is not held any more. */
async function giveBack(taken: Taken<unknown>): Promise<void> {
  await taken.release(taken.undecodable.map(({ id }) => id)).catch(() => undefined)
}
