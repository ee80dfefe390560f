import { describe, expect, onTestFinished, test } from 'vitest'
import type { Driver, Listener } from '../../driver.ts'
import { Deadlines } from '../time/deadlines.ts'
import { DriverError } from '../errors/errors.ts'
import { standInLine } from './line.ts'
import { Mailbox } from '../subscriptions/mailbox.ts'
import type { Attempts, LineStanding } from './attempts.ts'

interface Calls {
  attempts: string[]
  abandoned: string[]
  send(message: string): void
}

/** A line whose server answers each attempt with the next of these answers, and then repeats the last one. */
function setup(
  answers: readonly (LineStanding | Promise<LineStanding> | Error)[],
  channel: () => Promise<string> = async () => 'wake',
): {
  calls: Calls
  mailbox: Mailbox
  stand(waitMs: number, signal?: AbortSignal): ReturnType<typeof standInLine>
} {
  const listeners: Listener[] = []
  const subscribe: Driver['subscribe'] = async (_channel, listener) => {
    listeners.push(listener)
    return { close: async () => undefined }
  }
  const mailbox = new Mailbox({ subscribe })
  const calls: Calls = {
    attempts: [],
    abandoned: [],
    send: (message) => {
      for (const { onMessage } of listeners) onMessage(message)
    },
  }
  const attempts: Attempts = {
    passes: false,
    leaseMs: 300,
    attempt: async (id) => {
      calls.attempts.push(id)
      const answer = answers[Math.min(calls.attempts.length, answers.length) - 1] as
        | LineStanding
        | Promise<LineStanding>
        | Error
      if (answer instanceof Error) throw answer
      return answer
    },
    abandon: async (id) => void calls.abandoned.push(id),
    node: '',
  }
  const stand = (waitMs: number, signal?: AbortSignal): ReturnType<typeof standInLine> =>
    standInLine(attempts, {
      mailbox,
      deadlines: new Deadlines(),
      line: 'l',
      node: '',
      channel,
      mayBeCleared: () => false,
      waitMs,
      signal,
    })
  return { calls, mailbox, stand }
}

const queued: LineStanding = { status: 'queued', position: 3, recheckMs: 0, nowMs: 1000 }
const granted: LineStanding = { status: 'granted', token: 7, expiresAtMs: 2000, nowMs: 1000 }
const held: LineStanding = { status: 'held', retryAfterMs: 500 }
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const full = new DriverError('store-full', 'no memory')

describe('a definite error', () => {
  test.each([0, 1000])('leaves nothing to abandon (wait %i)', async (waitMs) => {
    const { stand, calls } = setup([full])

    await expect(stand(waitMs)).rejects.toBe(full)
    await turn()

    expect(calls.abandoned).toEqual([])
  })

  test('leaves the line when the attempt waits in it', async () => {
    const { stand, calls } = setup([queued, full])
    const standing = stand(10_000)
    await expect.poll(() => calls.attempts.length).toBe(1)
    calls.send(`come ${calls.attempts[0]}`)

    await expect(standing).rejects.toBe(full)
    await turn()

    expect(calls.abandoned).toEqual([calls.attempts[0]])
  })
})

describe('without waiting', () => {
  test('a grant counts from before its request', async () => {
    const { stand } = setup([granted])
    const before = performance.now()

    const grant = await stand(0)

    expect(grant).toMatchObject({ token: 7, expiresAtMs: 2000 })
    expect(grant?.endsAt).toBeLessThanOrEqual(performance.now() + 999)
    expect(grant?.endsAt).toBeGreaterThanOrEqual(before + 999)
  })

  test('one attempt is made, and none has to be abandoned', async () => {
    const { stand, calls } = setup([held])

    expect(await stand(0)).toBeNull()
    expect(calls).toMatchObject({ attempts: [expect.any(String)], abandoned: [] })
  })

  test('an expired grant is abandoned', async () => {
    const { stand, calls } = setup([{ ...granted, expiresAtMs: 1000 }])

    expect(await stand(0)).toBeNull()
    await turn()

    expect(calls.abandoned).toEqual(calls.attempts)
  })
})

describe('waiting', () => {
  test('a letter carries the grant, without another attempt', async () => {
    const { stand, calls } = setup([queued])
    const grant = stand(5000)
    await turn()

    calls.send(`granted ${calls.attempts[0]} 9 3000 1500`)

    expect(await grant).toMatchObject({ token: 9, expiresAtMs: 3000 })
    expect(calls).toMatchObject({ attempts: { length: 1 }, abandoned: [] })
  })

  test('a grant in a letter counts from the last answer, because the letter may be old', async () => {
    const { stand, calls } = setup([queued])
    const before = performance.now()
    const grant = stand(5000)
    await turn()

    calls.send(`granted ${calls.attempts[0]} 9 1400 1400`)
    calls.send(`granted ${calls.attempts[0]} 9 1400 1100`)

    const { endsAt = 0 } = (await grant) ?? {}
    expect(endsAt).toBeLessThanOrEqual(performance.now() + 400)
    expect(endsAt).toBeGreaterThan(before)
  })

  test('a letter to another attempt is ignored', async () => {
    const { stand, calls } = setup([queued])
    const grant = stand(30)
    await turn()

    calls.send('granted another.1 9 3000 1500')

    expect(await grant).toBeNull()
  })

  test('an attempt asks again under the same id after `come`', async () => {
    const { stand, calls } = setup([queued, granted])
    const grant = stand(5000)
    await turn()

    calls.send(`come ${calls.attempts[0]}`)

    expect(await grant).toMatchObject({ token: 7 })
    expect(new Set(calls.attempts).size).toBe(1)
    expect(calls.attempts).toHaveLength(2)
  })

  test('the first in line polls when it was asked to', async () => {
    const { stand, calls } = setup([queued, granted])
    const grant = stand(5000)
    await turn()

    calls.send(`first ${calls.attempts[0]} 5`)

    expect(await grant).toMatchObject({ token: 7 })
    expect(calls.attempts).toHaveLength(2)
  })

  test('the first in line polls, however often it is notified that it is the first', async () => {
    const { stand, calls } = setup([queued, granted])
    const grant = stand(3000)
    const telling = setInterval(() => calls.send(`first ${calls.attempts[0]} 2000`), 50)
    onTestFinished(() => clearInterval(telling))

    expect(await grant).toMatchObject({ token: 7 })
  })

  test('letters to several attempts in one message are each read', async () => {
    const { stand, calls } = setup([queued])
    const [one, other] = [stand(5000), stand(5000)]
    await turn()
    const [first, second] = calls.attempts

    calls.send(`granted ${first} 8 3000 1500\ngranted ${second} 9 3000 1500`)

    expect([await one, await other]).toMatchObject([{ token: 8 }, { token: 9 }])
  })

  test('when the time is over, the attempt is abandoned', async () => {
    const { stand, calls } = setup([queued])

    expect(await stand(20)).toBeNull()
    await turn()

    expect(calls.abandoned).toEqual(calls.attempts)
  })

  test('an aborted attempt rejects with the reason and is abandoned', async () => {
    const { stand, calls } = setup([queued])
    const leaving = new AbortController()
    const grant = stand(5000, leaving.signal)
    await turn()

    leaving.abort(new Error('not any more'))

    await expect(grant).rejects.toThrow('not any more')
    await turn()
    expect(calls.abandoned).toEqual(calls.attempts)
  })

  test('an attempt that is aborted during a request is in no line afterwards', async () => {
    let answer: (standing: LineStanding) => void = () => undefined
    const { stand, calls, mailbox } = setup([new Promise<LineStanding>((resolve) => (answer = resolve))])
    const leaving = new AbortController()
    const grant = stand(5000, leaving.signal)
    await expect.poll(() => calls.attempts.length).toBe(1)

    leaving.abort(new Error('not any more'))
    await expect(grant).rejects.toThrow('not any more')
    answer(queued)
    await turn()

    expect(mailbox.standers.isFirst('l', calls.attempts[0] ?? '')).toBe(false)
  })

  test('an unknown notification channel causes no unhandled rejection', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    const { stand } = setup([queued, granted], () => Promise.reject(new Error('no server')))

    expect(await stand(5000)).toMatchObject({ token: 7 })
    await turn()

    expect(unhandled).toEqual([])
  })

  test('an attempt that was aborted before makes no call', async () => {
    const { stand, calls } = setup([queued])

    await expect(stand(5000, AbortSignal.abort(new Error('no')))).rejects.toThrow('no')
    expect(calls.attempts).toEqual([])
  })
})
