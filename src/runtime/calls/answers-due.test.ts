import { expect, test } from 'vitest'
import { ConnectionLostError, type Driver, type Reply, type ScriptCall } from '../../driver.ts'
import type { Shares } from './answers-due.ts'
import type { Operation } from './operation.ts'
import { Runner } from './runner.ts'

const MIB = 1024 * 1024

const read: Operation<Record<string, never>, Reply> = {
  script: { name: 'test/read', sha1: 'abc', source: 'return 1', reads: true, bytes: true },
  parts: ['meta'],
  lines: [[1, 'lua/test/read.lua', 1]],
  encode: () => [],
  decode: (reply) => reply,
}
const claim: typeof read = { ...read, script: { ...read.script, name: 'test/claim', reads: false } }
const counted: typeof read = { ...read, script: { ...read.script, name: 'test/count', bytes: false } }

const byTenant: Shares = {
  of: (key) => key.split('/')[0] ?? '',
  mostWaiting: 20,
  hasRoom: () => true,
  onRoom: () => undefined,
  came: () => undefined,
}

const patient: Shares = { ...byTenant, mostWaiting: 1000 }

interface Sent {
  readonly key: string
  answer(bytes: number): Promise<void>
  lose(): Promise<void>
}

interface Terms {
  deadlineMs?: number
  shares?: Shares
  placeOf?: (key: string) => string | undefined
}

/** A driver that answers when the test says so. */
function setup({ deadlineMs = 5000, shares, placeOf = () => undefined }: Terms = {}): {
  runner: Runner
  /** Unanswered calls, in the order of sending. */
  due: Sent[]
  keys: () => string[]
  ask: (key: string, signal?: AbortSignal) => Promise<Reply>
} {
  const due: Sent[] = []
  const run = ({ keys: [key = ''] }: ScriptCall): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const over = async (settle: () => void): Promise<void> => {
        due.splice(due.indexOf(sent), 1)
        settle()
        await new Promise((done) => setImmediate(done))
      }
      const sent: Sent = {
        key,
        answer: (bytes) => over(() => resolve([1, [Buffer.alloc(bytes), 'text']])),
        lose: () => over(() => reject(new ConnectionLostError('gone', true))),
      }
      due.push(sent)
    })
  const runner = new Runner({ run, placeOf } as Partial<Driver> as Driver, deadlineMs, shares)
  const ask = (key: string, signal?: AbortSignal): Promise<Reply> => {
    const asked = runner.run(read, [key], {}, { signal })
    asked.catch(() => undefined)
    return asked
  }
  return { runner, due, keys: () => due.map(({ key }) => key), ask }
}

const many = (count: number, work: () => unknown): void => {
  for (let at = 0; at < count; at += 1) work()
}

/** A unit whose answers are known to have this size. */
async function known({ ask, due }: ReturnType<typeof setup>, key: string, bytes: number): Promise<void> {
  void ask(key)
  await due.at(-1)?.answer(bytes)
}

test('a unit without known answer sizes has a few calls under way, and more with its answers', async () => {
  const { due, ask } = setup()

  many(100, () => ask('k'))
  expect(due).toHaveLength(4)
  await due[0]?.answer(10)
  expect(due).toHaveLength(5)
  for (let at = 0; at < 60; at += 1) await due[0]?.answer(10)
  expect(due).toHaveLength(32)
})

test('when answers are large, few bytes are outstanding at once, however many callers ask', async () => {
  const scene = setup()
  await known(scene, 'k', 1 * MIB)

  many(50, () => scene.ask('k'))
  expect(scene.due).toHaveLength(2)
  await scene.due[0]?.answer(1 * MIB)
  expect(scene.due).toHaveLength(2)
  await scene.due[0]?.answer(1 * MIB)
  expect(scene.due).toHaveLength(2)
})

test('one answer is always requested, however large it is', async () => {
  const scene = setup()
  await known(scene, 'k', 40 * MIB)

  many(3, () => scene.ask('k'))
  expect(scene.due).toHaveLength(1)
})

test('small answers do not wait for large ones', async () => {
  const scene = setup()
  await known(scene, 'large', 1 * MIB)
  many(50, () => scene.ask('large'))

  void scene.ask('small')
  expect(scene.keys()).toEqual(['large', 'large', 'small'])
})

test('answers without bytes are not counted', async () => {
  const { runner, due } = setup()

  many(500, () => runner.run(counted, ['k'], {}).catch(() => undefined))
  expect(due).toHaveLength(500)
})

test('all small answers together are limited', async () => {
  const { due, ask } = setup()

  for (let at = 0; at < 100; at += 1) many(4, () => ask(`k${at}`))
  expect(due).toHaveLength(128)
})

test('outstanding answers on one connection do not block another one', async () => {
  const { due, keys, ask } = setup({ placeOf: (key) => key.split('/')[0] })

  for (let at = 0; at < 100; at += 1) many(4, () => ask(`silent/${at}`))
  many(2, () => ask('well/1'))
  expect(due).toHaveLength(128 + 2)
  expect(keys().slice(-2)).toEqual(['well/1', 'well/1'])
})

test('units take turns, and the units of one tenant share one turn', async () => {
  const scene = setup({ shares: byTenant })
  for (const key of ['a/1', 'a/2', 'b/1']) await known(scene, key, 1 * MIB)
  many(4, () => scene.ask('a/1'))
  many(4, () => scene.ask('a/2'))
  many(3, () => scene.ask('b/1'))

  const order: string[] = []
  while (scene.due.length > 0) {
    order.push(scene.keys()[0] ?? '')
    await scene.due[0]?.answer(1 * MIB)
  }
  expect(order).toEqual(['a/1', 'a/1', 'a/1', 'b/1', 'a/2', 'b/1', 'a/1', 'b/1', 'a/2', 'a/2', 'a/2'])
})

test('a tenant without known answer sizes has a few calls under way, in addition to those of other tenants', async () => {
  const { due, keys, ask } = setup({ shares: patient })
  for (let at = 0; at < 100; at += 1) void ask(`a/${at}`)
  expect(due).toHaveLength(4)

  void ask('b/1')
  expect(keys()).toEqual(['a/0', 'a/1', 'a/2', 'a/3', 'b/1'])
  await due[4]?.answer(10)
  await due[0]?.answer(10)
  expect(due).toHaveLength(5)
  for (let at = 0; at < 60; at += 1) await due[0]?.answer(10)
  expect(due).toHaveLength(32)
})

test('after large first answers of a tenant, its other keys are treated as large, and no other tenant waits', async () => {
  const { due, keys, ask } = setup({ shares: patient })
  for (let at = 0; at < 30; at += 1) void ask(`a/${at}`)

  for (let at = 0; at < 4; at += 1) await due[0]?.answer(4 * MIB)
  expect(keys()).toEqual(['a/4'])
  void ask('a/new')
  void ask('b/1')
  expect(keys()).toEqual(['a/4', 'b/1'])
  await due[1]?.answer(10)
  for (let at = 5; at < 30; at += 1) {
    await due[0]?.answer(4 * MIB)
    expect(keys()).toEqual([`a/${at}`])
  }
})

test('once first answers of a tenant are small again, a few calls for its other keys run at once', async () => {
  const scene = setup({ shares: patient })
  await known(scene, 'a/large', 1 * MIB)
  for (let at = 0; at < 12; at += 1) await known(scene, `a/${at}`, 10)

  for (let at = 0; at < 50; at += 1) void scene.ask(`a/new ${at}`)
  expect(scene.due).toHaveLength(6)
})

test('calls of a tenant with too many waiting calls are rejected, and those of others are not', async () => {
  const scene = setup({ shares: byTenant })
  await known(scene, 'a/1', 1 * MIB)
  many(22, () => scene.ask('a/1'))

  await expect(scene.ask('a/1')).rejects.toMatchObject({ name: 'DriverError', code: 'overloaded' })
  void scene.ask('b/1')
  expect(scene.keys()).toEqual(['a/1', 'a/1', 'b/1'])
})

test('a tenant whose clients do not read waits until they do, and others do not', async () => {
  let full = true
  let roomMade = (): void => undefined
  const scene = setup({
    shares: {
      ...byTenant,
      hasRoom: (share) => share !== 'a' || !full,
      onRoom: (listener) => (roomMade = listener),
    },
  })
  for (const key of ['a/1', 'b/1']) await known(scene, key, 1 * MIB)
  many(2, () => scene.ask('a/1'))
  void scene.ask('b/1')
  expect(scene.keys()).toEqual(['b/1'])

  full = false
  roomMade()
  expect(scene.keys()).toEqual(['b/1', 'a/1'])
})

test('a call that is aborted before it is sent is never sent', async () => {
  const scene = setup()
  await known(scene, 'k', 2 * MIB)
  void scene.ask('k')
  const left = new AbortController()
  const abandoned = scene.ask('k', left.signal)
  const wanted = scene.ask('other')

  left.abort(new Error('left'))
  await expect(abandoned).rejects.toThrow('left')
  for (const sent of scene.due.slice()) await sent.answer(10)
  await wanted
  expect(scene.due).toEqual([])
})

test('a call that was aborted before it began is never sent', async () => {
  const { due, ask } = setup()

  await expect(ask('k', AbortSignal.abort(new Error('left')))).rejects.toThrow('left')
  expect(due).toEqual([])
})

test('a call that was sent before its abort continues', async () => {
  const { due, ask } = setup()
  const left = new AbortController()
  const asked = ask('k', left.signal)

  left.abort()
  await due[0]?.answer(1)
  await expect(asked).resolves.toEqual([1, [Buffer.alloc(1), 'text']])
})

test('a call whose deadline passes before it is sent has not happened and is never sent', async () => {
  const scene = setup({ deadlineMs: 30 })
  await known(scene, 'k', 2 * MIB)
  void scene.ask('k')

  const waiting = scene.runner.run(claim, ['k'], {})
  void scene.ask('other')
  await scene.due[1]?.answer(1)
  await expect(waiting).rejects.toMatchObject({ name: 'DriverError', code: 'overloaded' })
  await scene.due[0]?.answer(2 * MIB)
  expect(scene.due).toEqual([])
})

test('without any answers, an unsent call reports that no server answered', async () => {
  const scene = setup({ deadlineMs: 30 })
  await known(scene, 'k', 2 * MIB)
  const asked = [scene.ask('k'), scene.ask('k')]

  for (const one of asked) await expect(one).rejects.toMatchObject({ code: 'unreachable' })
})

test('an answer is outstanding until it arrives, even if its caller has given up', async () => {
  const scene = setup({ deadlineMs: 30 })
  await known(scene, 'k', 2 * MIB)
  await expect(scene.ask('k')).rejects.toMatchObject({ code: 'unreachable' })

  const [late] = scene.due
  void scene.ask('k')
  expect(scene.due).toEqual([late])
  await late?.answer(2 * MIB)
  expect(scene.due).toHaveLength(1)
})

test('a lost call makes room', async () => {
  const scene = setup()
  await known(scene, 'k', 2 * MIB)
  const [first, second] = [scene.ask('k'), scene.ask('k')]

  await scene.due[0]?.lose()
  await scene.due[0]?.answer(1)
  // The first call is retried.
  while (scene.due.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  await scene.due[0]?.answer(1)
  await Promise.all([first, second])
})

test('calls that wait for room end when the instance closes', async () => {
  const scene = setup()
  await known(scene, 'k', 2 * MIB)
  void scene.ask('k')
  const waiting = scene.ask('k')

  scene.runner.close()
  await expect(waiting).rejects.toMatchObject({ code: 'closed' })
})

test('a unit whose answers have become small is treated as small again', async () => {
  const scene = setup()
  await known(scene, 'k', 1 * MIB)
  for (let at = 0; at < 10; at += 1) await known(scene, 'k', 0)

  many(50, () => scene.ask('k'))
  expect(scene.due).toHaveLength(4)
})

test('shares are notified of each answer with its size', async () => {
  const came: number[] = []
  const { due, ask } = setup({ shares: { ...byTenant, came: (bytes) => came.push(bytes) } })

  void ask('a/1')
  void ask('a/2')
  await due[0]?.answer(100_000)
  await due[0]?.lose()

  expect(came).toEqual([100_000])
})
