import { describe, expect, onTestFinished, test } from 'vitest'
import type { Driver, Listener } from '../../driver.ts'
import { Deadlines } from '../time/deadlines.ts'
import { DriverError } from '../errors/errors.ts'
import { standInLine } from './line.ts'
import { Mailbox } from '../subscriptions/mailbox.ts'
import type { Attempts, LineStanding } from './attempts.ts'

interface Told {
  attempts: string[]
  abandoned: string[]
  send(message: string): void
}

/** A line whose server answers each attempt with the next of these, then with the last again. */
function setup(
  answers: readonly (LineStanding | Promise<LineStanding> | Error)[],
  channel: () => Promise<string> = async () => 'wake',
): {
  told: Told
  mailbox: Mailbox
  stand(waitMs: number, signal?: AbortSignal): ReturnType<typeof standInLine>
} {
  const listeners: Listener[] = []
  const subscribe: Driver['subscribe'] = async (_channel, listener) => {
    listeners.push(listener)
    return { close: async () => undefined }
  }
  const mailbox = new Mailbox({ subscribe })
  const told: Told = {
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
      told.attempts.push(id)
      const answer = answers[Math.min(told.attempts.length, answers.length) - 1] as
        | LineStanding
        | Promise<LineStanding>
        | Error
      if (answer instanceof Error) throw answer
      return answer
    },
    abandon: async (id) => void told.abandoned.push(id),
    node: '',
  }
  const stand = (waitMs: number, signal?: AbortSignal): ReturnType<typeof standInLine> =>
    standInLine(attempts, { mailbox, deadlines: new Deadlines(), line: 'l', channel, waitMs, signal })
  return { told, mailbox, stand }
}

const queued: LineStanding = { status: 'queued', position: 3, recheckMs: 0, nowMs: 1000 }
const granted: LineStanding = { status: 'granted', token: 7, expiresAtMs: 2000, nowMs: 1000 }
const held: LineStanding = { status: 'held', retryAfterMs: 500 }
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const full = new DriverError('store-full', 'no memory')

describe('what was refused for certain', () => {
  test.each([0, 1000])('leaves nothing to abandon (wait %i)', async (waitMs) => {
    const { stand, told } = setup([full])

    await expect(stand(waitMs)).rejects.toBe(full)
    await turn()

    expect(told.abandoned).toEqual([])
  })

  test('leaves the line, where it stands in it', async () => {
    const { stand, told } = setup([queued, full])
    const standing = stand(10_000)
    await expect.poll(() => told.attempts.length).toBe(1)
    told.send(`come ${told.attempts[0]}`)

    await expect(standing).rejects.toBe(full)
    await turn()

    expect(told.abandoned).toEqual([told.attempts[0]])
  })
})

describe('without waiting', () => {
  test('a grant counts from before it was asked for', async () => {
    const { stand } = setup([granted])
    const before = performance.now()

    const grant = await stand(0)

    expect(grant).toMatchObject({ token: 7, expiresAtMs: 2000 })
    expect(grant?.endsAt).toBeLessThanOrEqual(performance.now() + 999)
    expect(grant?.endsAt).toBeGreaterThanOrEqual(before + 999)
  })

  test('one attempt is made, and nothing is left to abandon', async () => {
    const { stand, told } = setup([held])

    expect(await stand(0)).toBeNull()
    expect(told).toMatchObject({ attempts: [expect.any(String)], abandoned: [] })
  })

  test('a grant that is over already is abandoned', async () => {
    const { stand, told } = setup([{ ...granted, expiresAtMs: 1000 }])

    expect(await stand(0)).toBeNull()
    await turn()

    expect(told.abandoned).toEqual(told.attempts)
  })
})

describe('waiting', () => {
  test('a letter brings the grant without another attempt', async () => {
    const { stand, told } = setup([queued])
    const grant = stand(5000)
    await turn()

    told.send(`granted ${told.attempts[0]} 9 3000 1500`)

    expect(await grant).toMatchObject({ token: 9, expiresAtMs: 3000 })
    expect(told).toMatchObject({ attempts: { length: 1 }, abandoned: [] })
  })

  test('what a letter grants counts from the last answer, for it may have travelled long', async () => {
    const { stand, told } = setup([queued])
    const before = performance.now()
    const grant = stand(5000)
    await turn()

    told.send(`granted ${told.attempts[0]} 9 1400 1400`)
    told.send(`granted ${told.attempts[0]} 9 1400 1100`)

    const { endsAt = 0 } = (await grant) ?? {}
    expect(endsAt).toBeLessThanOrEqual(performance.now() + 400)
    expect(endsAt).toBeGreaterThan(before)
  })

  test('a letter to somebody else is not read', async () => {
    const { stand, told } = setup([queued])
    const grant = stand(30)
    await turn()

    told.send('granted somebody.1 9 3000 1500')

    expect(await grant).toBeNull()
  })

  test('whoever is called comes, under the same id', async () => {
    const { stand, told } = setup([queued, granted])
    const grant = stand(5000)
    await turn()

    told.send(`come ${told.attempts[0]}`)

    expect(await grant).toMatchObject({ token: 7 })
    expect(new Set(told.attempts).size).toBe(1)
    expect(told.attempts).toHaveLength(2)
  })

  test('the first in line looks again when it was told to', async () => {
    const { stand, told } = setup([queued, granted])
    const grant = stand(5000)
    await turn()

    told.send(`first ${told.attempts[0]} 5`)

    expect(await grant).toMatchObject({ token: 7 })
    expect(told.attempts).toHaveLength(2)
  })

  test('the first in line looks again, however often it is told that it is the first', async () => {
    const { stand, told } = setup([queued, granted])
    const grant = stand(3000)
    const telling = setInterval(() => told.send(`first ${told.attempts[0]} 2000`), 50)
    onTestFinished(() => clearInterval(telling))

    expect(await grant).toMatchObject({ token: 7 })
  })

  test('letters to several on one line of one message are each read', async () => {
    const { stand, told } = setup([queued])
    const [one, other] = [stand(5000), stand(5000)]
    await turn()
    const [first, second] = told.attempts

    told.send(`granted ${first} 8 3000 1500\ngranted ${second} 9 3000 1500`)

    expect([await one, await other]).toMatchObject([{ token: 8 }, { token: 9 }])
  })

  test('when the time is over the attempt is abandoned', async () => {
    const { stand, told } = setup([queued])

    expect(await stand(20)).toBeNull()
    await turn()

    expect(told.abandoned).toEqual(told.attempts)
  })

  test('an aborted attempt rejects with the reason and is abandoned', async () => {
    const { stand, told } = setup([queued])
    const leaving = new AbortController()
    const grant = stand(5000, leaving.signal)
    await turn()

    leaving.abort(new Error('not any more'))

    await expect(grant).rejects.toThrow('not any more')
    await turn()
    expect(told.abandoned).toEqual(told.attempts)
  })

  test('an attempt that is aborted while it asks stands in no line behind that', async () => {
    let answer: (standing: LineStanding) => void = () => undefined
    const { stand, told, mailbox } = setup([new Promise<LineStanding>((resolve) => (answer = resolve))])
    const leaving = new AbortController()
    const grant = stand(5000, leaving.signal)
    await expect.poll(() => told.attempts.length).toBe(1)

    leaving.abort(new Error('not any more'))
    await expect(grant).rejects.toThrow('not any more')
    answer(queued)
    await turn()

    expect(mailbox.standers.isFirst('l', told.attempts[0] ?? '')).toBe(false)
  })

  test('where it cannot be learnt where to listen, that is told to nobody twice', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    const { stand } = setup([queued, granted], () => Promise.reject(new Error('no server')))

    expect(await stand(5000)).toMatchObject({ token: 7 })
    await turn()

    expect(unhandled).toEqual([])
  })

  test('whoever is aborted beforehand asks nothing', async () => {
    const { stand, told } = setup([queued])

    await expect(stand(5000, AbortSignal.abort(new Error('no')))).rejects.toThrow('no')
    expect(told.attempts).toEqual([])
  })
})
