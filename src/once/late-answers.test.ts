// Late answers to `begin`: after the lease has ended, after the caller has left, or after its deadline.

import { type Driver, type Once, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, test } from 'vitest'
import { setup } from '../../test/once-fixture.ts'
import { until } from '../../test/servers/ask.ts'

const LEASE = '300ms'

interface Scene {
  /** The answers to its begins are held. */
  readonly slow: Once<string>
  readonly other: Once<string>
  /** How many answers are held. */
  held(): number
  /** Delivers the held answers, and all later ones. */
  letCome(): void
}

async function scene({
  lease = '30s',
  deadlineMs = 5000,
}: {
  lease?: '300ms' | '30s'
  deadlineMs?: number
} = {}): Promise<Scene> {
  const { once, name, client } = await setup<string>({ clock: 'real', lease })
  const plain = ioredis(client)
  let held: (() => void)[] | null = []
  const run: Driver['run'] = async (call) => {
    const reply = await plain.run(call)
    if (call.script.name === 'once/begin')
      await new Promise<void>((come) => (held === null ? come() : held.push(come)))
    return reply
  }
  const slow = perilune(Object.assign(Object.create(plain) as Driver, bound(plain), { run }), {
    namespace: 'once-test',
    deadline: `${deadlineMs}ms`,
  })
  await slow.once(name).inspect('a')
  const letCome = (): void => {
    for (const come of held ?? []) come()
    held = null
  }
  return { slow: slow.once<string>(name, { lease }), other: once, held: () => held?.length ?? 0, letCome }
}

/** Methods of a driver need it as `this`. */
function bound(driver: Driver): Partial<Driver> {
  return {
    info: () => driver.info(),
    load: (script) => driver.load(script),
    subscribe: (...args) => driver.subscribe(...args),
    close: async () => undefined,
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

test('an answer after the lease has ended begins nothing: the result of another attempt is returned', async () => {
  const { slow, other, held, letCome } = await scene({ lease: LEASE })
  let done = 0
  const first = slow.run('a', () => `late ${++done}`)
  await until('it has been begun', () => Promise.resolve(held() === 1))
  await pause(350)
  expect(await other.run('a', () => 'done')).toBe('done')

  letCome()

  expect(await first).toBe('done')
  expect(done).toBe(0)
})

test('an answer after the lease has ended begins again if no other attempt has', async () => {
  const { slow, held, letCome } = await scene({ lease: LEASE })
  const [begun, detached] = [slow.begin('a'), slow.beginDetached('b')]
  await until('they have been begun', () => Promise.resolve(held() === 2))
  await pause(350)
  letCome()

  const attempt = await begun
  expect(attempt.status === 'started' && attempt.attempt.remainingMs).toBeGreaterThan(0)
  expect(await detached).toMatchObject({ status: 'started' })
  expect(await slow.inspect('b')).toMatchObject({ state: 'running' })
})

test.each([{}, { wait: '10s' }] as const)(
  'an answer to a caller that left does not release an attempt requested again by its id (%o)',
  async (waiting) => {
    const { slow, other, held, letCome } = await scene()
    const leaving = new AbortController()
    const left = slow.beginDetached('a', { id: 'request', signal: leaving.signal, ...waiting })
    await until('it has been begun', () => Promise.resolve(held() === 1))
    leaving.abort(new Error('left'))
    await expect(left).rejects.toThrow('left')
    const again = await other.beginDetached('a', { id: 'request' })
    if (again.status !== 'started') throw new Error(again.status)

    letCome()
    await pause(50)

    expect(await other.beginDetached('a')).toMatchObject({ status: 'running' })
    await other.byToken.complete('a', again.token, 'done')
  },
)

test('an answer to a caller that left releases an attempt that no other caller can request', async () => {
  const { slow, other, held, letCome } = await scene()
  const leaving = new AbortController()
  const left = slow.beginDetached('a', { signal: leaving.signal, wait: '10s' })
  await until('it has been begun', () => Promise.resolve(held() === 1))
  leaving.abort(new Error('left'))
  await expect(left).rejects.toThrow('left')
  letCome()

  await until('the key is free', async () => (await other.inspect('a')).state === 'free')
})

test('an answer after the deadline leaves no key blocked', async () => {
  const { slow, other, held, letCome } = await scene({ deadlineMs: 1000 })
  const calls = [slow.run('a', () => 'never'), slow.begin('b'), slow.beginDetached('c', { wait: '100ms' })]
  await until('they have been begun', () => Promise.resolve(held() === 3))
  for (const call of calls) await expect(call).rejects.toMatchObject({ name: 'AmbiguousError' })
  letCome()

  for (const key of ['a', 'b', 'c'])
    await until(`${key} is free`, async () => (await other.inspect(key)).state === 'free')
})
