import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { DriverError } from '../errors/errors.ts'
import { Deadlines } from '../time/deadlines.ts'
import { Sleeper } from '../time/sleeper.ts'
import { type Look, lookOrSleep, type Waker } from './look-or-sleep.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

const RECHECKS = { heardMs: 10_000, unheardMs: 500 }
const NOTHING: Look<string> = { value: 'nothing', found: false, recheckMs: 0 }
const FOUND: Look<string> = { value: 'job', found: true, recheckMs: 0 }

class Bell implements Waker {
  isHeard = true
  isGone = false
  #rung = false
  readonly #sleeper = new Sleeper()

  async sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    if (!this.#rung) await this.#sleeper.sleep(ms, signal)
    this.#rung = false
    signal?.throwIfAborted()
  }

  ring(): void {
    this.#rung = true
    this.#sleeper.wake()
  }
}

interface Setup {
  /** The times of its looks, in milliseconds since the beginning. */
  readonly looks: number[]
  readonly givenBack: string[]
  readonly deadlines: Deadlines
  readonly waiting: Promise<string>
}

interface Terms {
  readonly bell?: Bell | null
  readonly waitMs?: number
  readonly signal?: AbortSignal
  look?(times: number): Look<string> | Promise<Look<string>>
}

function setup({ bell = null, waitMs = 60_000, signal, look = () => NOTHING }: Terms = {}): Setup {
  const [looks, givenBack, deadlines]: [number[], string[], Deadlines] = [[], [], new Deadlines()]
  const begin = performance.now()
  const lookNow = async (): Promise<Look<string>> => {
    looks.push(Math.round(performance.now() - begin))
    return look(looks.length)
  }
  const waiting = lookOrSleep(lookNow, {
    opening: { now: bell },
    endsAt: begin + waitMs,
    rechecks: RECHECKS,
    deadlines,
    signal,
    giveBack: async (late) => void givenBack.push(late),
  })
  waiting.catch(() => undefined)
  return { looks, givenBack, deadlines, waiting }
}

describe('looks', () => {
  test('once when it finds something, without sleeping', async () => {
    const { looks, waiting } = setup({ bell: new Bell(), look: () => FOUND })

    await expect(waiting).resolves.toBe('job')

    expect(looks).toEqual([0])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('again when it is woken', async () => {
    const bell = new Bell()
    const { looks, waiting } = setup({ bell, look: (times) => (times === 1 ? NOTHING : FOUND) })
    await vi.advanceTimersByTimeAsync(300)

    bell.ring()

    await expect(waiting).resolves.toBe('job')
    expect(looks).toEqual([0, 300])
  })

  test('again at once when a wake-up came during the look', async () => {
    const bell = new Bell()
    const look = (times: number): Look<string> => {
      if (times > 1) return FOUND
      bell.ring()
      return NOTHING
    }
    const { looks, waiting } = setup({ bell, look })

    await expect(waiting).resolves.toBe('job')

    expect(looks).toEqual([0, 0])
  })

  test('a last time when its time is over, and returns that value', async () => {
    const look = (times: number): Look<string> => ({ ...NOTHING, value: `look ${times}` })
    const { looks, waiting } = setup({ bell: new Bell(), waitMs: 700, look })

    await vi.advanceTimersByTimeAsync(700)

    await expect(waiting).resolves.toBe('look 2')
    expect(looks).toEqual([0, 700])
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('polls', () => {
  test.each<[string, Partial<Bell> | null, number[]]>([
    ['rarely while it is subscribed', {}, [0, 10_000, 20_000]],
    ['after a second while its line is broken', { isHeard: false }, [0, 1000, 2000]],
    ['soon when its line is gone', { isHeard: false, isGone: true }, [0, 500, 1000]],
  ])('%s', async (_, state, expected) => {
    const { looks } = setup({ bell: Object.assign(new Bell(), state) })

    await vi.advanceTimersByTimeAsync((expected[2] ?? 0) + 100)

    expect(looks).toEqual(expected)
  })

  test('soon while the server forbids the subscription', async () => {
    const { looks } = setup({ bell: null })

    await vi.advanceTimersByTimeAsync(1200)

    expect(looks[0]).toBe(0)
    expect(looks.length).toBe(3)
  })

  test('when the last look asks for it, if that is earlier', async () => {
    const { looks } = setup({ bell: new Bell(), look: () => ({ ...NOTHING, recheckMs: 40 }) })

    await vi.advanceTimersByTimeAsync(90)

    expect(looks).toEqual([0, 40, 80])
  })
})

describe('a signal', () => {
  const reason = new Error('enough')

  test('that aborted before: it does not look', async () => {
    const { looks, waiting } = setup({ bell: new Bell(), signal: AbortSignal.abort(reason) })

    await expect(waiting).rejects.toBe(reason)

    expect(looks).toEqual([])
  })

  test('that aborts during a look ends it at once; the found value is given back', async () => {
    const stop = new AbortController()
    let answer: (look: Look<string>) => void = () => undefined
    const look = (): Promise<Look<string>> => new Promise((resolve) => (answer = resolve))
    const { givenBack, waiting } = setup({ bell: new Bell(), signal: stop.signal, look })
    await vi.advanceTimersByTimeAsync(5)

    stop.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    answer(FOUND)
    await vi.advanceTimersByTimeAsync(0)

    expect(givenBack).toEqual(['job'])
  })

  test('that aborts during a look without a result leaves nothing to give back', async () => {
    const stop = new AbortController()
    const { givenBack, waiting } = setup({
      signal: stop.signal,
      look: () => {
        stop.abort(reason)
        return NOTHING
      },
    })

    await expect(waiting).rejects.toBe(reason)
    await vi.advanceTimersByTimeAsync(0)

    expect(givenBack).toEqual([])
  })

  test.each([
    ['with a waker', new Bell()],
    ['without a waker', null],
  ])('that aborts while it sleeps %s ends it at once, and leaves no listener', async (_, bell) => {
    const stop = new AbortController()
    const { deadlines, looks, waiting } = setup({ bell, signal: stop.signal })
    await vi.advanceTimersByTimeAsync(5)

    stop.abort(reason)

    await expect(waiting).rejects.toBe(reason)
    expect(looks).toEqual([0])
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
    deadlines.giveUpAll(reason)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('that aborts afterwards has no effect', async () => {
    const stop = new AbortController()
    const { givenBack, waiting } = setup({ signal: stop.signal, look: () => FOUND })
    await expect(waiting).resolves.toBe('job')

    stop.abort(reason)
    await vi.advanceTimersByTimeAsync(0)

    expect(givenBack).toEqual([])
  })
})

describe('an instance that closes', () => {
  const closed = new DriverError('closed', 'closed')

  test('wakes it, and the next look is rejected', async () => {
    const bell = new Bell()
    const look = (times: number): Look<string> => {
      if (times > 1) throw closed
      return NOTHING
    }
    const { waiting } = setup({ bell, look })
    await vi.advanceTimersByTimeAsync(5)

    bell.ring()

    await expect(waiting).rejects.toBe(closed)
  })

  test('ends it when it cannot listen', async () => {
    const { deadlines, waiting } = setup({ bell: null })
    await vi.advanceTimersByTimeAsync(5)

    deadlines.giveUpAll(closed)

    await expect(waiting).rejects.toBe(closed)
  })
})

test('an unreachable server ends it with the error of the look', async () => {
  const away = new DriverError('unreachable', 'no server answered')
  const { waiting } = setup({ bell: new Bell(), look: () => Promise.reject(away) })

  await expect(waiting).rejects.toBe(away)
})
