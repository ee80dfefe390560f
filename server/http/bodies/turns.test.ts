import { EventEmitter } from 'node:events'
import { stat } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { setImmediate as passOfTheLoop } from 'node:timers/promises'
import { Collection, Queue } from 'perilune'
import { afterEach, expect, inject, onTestFinished, test, vi } from 'vitest'
import { BodyTurns } from './turns.ts'
import { Registry } from '../../zaqar/queues/registry.ts'
import { openSocket, readStatus } from '../../testing/raw-request.ts'
import { startApp } from '../../testing/test-app.ts'
import { KnownQueues } from '../../v1/queues/known-queues.ts'

const MIB = 1024 * 1024
const sockets: Socket[] = []

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

interface Taken {
  readonly request: { readonly socket: Socket }
  /** `waits`, `begins`, or the error. */
  state: string
}

function aSocket(): Socket {
  return Object.assign(new EventEmitter(), { destroyed: false }) as unknown as Socket
}

function take(turns: BodyTurns, share: string, bytes = MIB, isLong = true): Taken {
  const taken: Taken = { request: { socket: aSocket() }, state: 'waits' }
  turns.take(share, taken.request, bytes, isLong).then(
    () => (taken.state = 'begins'),
    (error: Error) => (taken.state = error.message),
  )
  return taken
}

/** Ends the running turn, and returns the next one. */
async function next(turns: BodyTurns, all: Readonly<Record<string, Taken>>, of: Taken): Promise<string> {
  const before = Object.entries(all).filter(([, { state }]) => state === 'begins')
  turns.end(of.request)
  const begun = (): [string, Taken][] =>
    Object.entries(all).filter(
      ([name, { state }]) => state === 'begins' && !before.some(([known]) => known === name),
    )
  await vi.waitUntil(() => begun().length > 0)
  return begun()
    .map(([name]) => name)
    .join()
}

test('large bodies are processed one at a time, shares in turn, and small ones at once', async () => {
  const turns = new BodyTurns()
  const first = take(turns, 'a')
  const all = { a2: take(turns, 'a'), a3: take(turns, 'a'), b1: take(turns, 'b'), b2: take(turns, 'b') }
  const small = take(turns, 'b', 1000)
  await passOfTheLoop()
  expect([first.state, small.state, all.a2.state, all.b1.state]).toEqual([
    'begins',
    'begins',
    'waits',
    'waits',
  ])

  expect(await next(turns, all, first)).toBe('a2')
  expect(await next(turns, all, all.a2)).toBe('b1')
  expect(await next(turns, all, all.b1)).toBe('a3')
  expect(await next(turns, all, all.a3)).toBe('b2')
})

test('bodies that are neither large nor long are processed one after the other in one pass of the loop, within its time slice', async () => {
  let [nowMs, passes] = [0, 0]
  const turns = new BodyTurns(() => nowMs)
  const all = ['a', 'b', 'c', 'd'].map((share) => take(turns, share, 5000, false))
  const begun = (): number => all.filter(({ state }) => state === 'begins').length
  const ticked = (): Promise<void> => new Promise(process.nextTick)
  const [first, second, third] = all as [Taken, Taken, Taken]
  setImmediate(() => (passes += 1))

  turns.endSoon(first.request)
  while (begun() < 2) await ticked()
  nowMs += 20
  turns.end(second.request)
  await ticked()
  expect([begun(), passes]).toEqual([2, 0])
  await vi.waitUntil(() => third.state === 'begins')
  expect(passes).toBe(1)
  turns.end(third.request)
  await ticked()
  expect(begun()).toBe(4)
})

test('a long body has its own passes of the loop, also among others', async () => {
  const turns = new BodyTurns(() => 0)
  const [short, long] = [take(turns, 'a', 5000, false), take(turns, 'b', 5000, true)]
  await new Promise(process.nextTick)
  turns.end(short.request)
  await vi.waitUntil(() => long.state === 'begins')
  const done: string[] = []
  turns.step(long.request, () => done.push('parsed'))
  await new Promise(process.nextTick)

  expect(done).toEqual([])
  await passOfTheLoop()
  expect(done).toEqual(['parsed'])
})

/** The pass of the loop in which each of the first steps of a large body runs. */
async function passesOf(turns: BodyTurns, share: string): Promise<{ begins: number; goesOn: number }> {
  const request = { socket: aSocket() }
  await turns.take(share, request, MIB)
  const begins = thisPass()
  const goesOn = await new Promise<number>((resolve) => turns.step(request, () => resolve(thisPass())))
  turns.end(request)
  return { begins, goesOn }
}

function thisPass(): number {
  return performance.nodeTiming.uvMetricsInfo.loopCount
}

test('each step of a large body has another pass of the loop: alone, and after a small body', async () => {
  const [idle, busy] = [new BodyTurns(), new BodyTurns()]
  // In the same phase as arriving bodies: before the loop runs deferred work.
  await stat('.')
  const alone = passesOf(idle, 'a')
  const small = take(busy, 'a', 5000, false)
  const behind = passesOf(busy, 'b')
  busy.endSoon(small.request)

  for (const { begins, goesOn } of await Promise.all([alone, behind])) expect(goesOn - begins).toBe(1)
})

test('with a client that leaves has no turn, and keeps none', async () => {
  const turns = new BodyTurns()
  const [first, second, third] = [take(turns, 'a'), take(turns, 'a'), take(turns, 'a')]
  second.request.socket.emit('close')
  await passOfTheLoop()
  expect(second.state).toBe('the client has left')

  first.request.socket.emit('close')
  await vi.waitUntil(() => third.state === 'begins')
})

test('a body that is rejected, or whose client has left, passes its turn on', async () => {
  await using app = await startApp(inject('redisPort'))
  const body = `[${'1,'.repeat(100_000)}1]`
  const calls = [body, `${body}]`, body].map((sent) =>
    app.call('POST', '/v1/feeds/f/messages', { body: sent }),
  )
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([400, 400, 400])
})

test('a body that has waited for something else has another turn, before all that have had none', async () => {
  const turns = new BodyTurns()
  const first = take(turns, 'a')
  const [second, third] = [take(turns, 'b'), take(turns, 'c')]
  turns.end(first.request)
  await vi.waitUntil(() => second.state === 'begins')

  let goesOn = false
  const again = turns.again(first.request).then(() => (goesOn = true))
  await passOfTheLoop()
  expect([goesOn, third.state]).toEqual([false, 'waits'])
  turns.end(second.request)
  await again
  expect(third.state).toBe('waits')
  // Its turn ends by itself, after its synchronous work.
  await vi.waitUntil(() => third.state === 'begins')
})

test('a body that has waited, and whose client has left meanwhile, has no other turn', async () => {
  const turns = new BodyTurns()
  const first = take(turns, 'a')
  turns.end(first.request)
  const second = take(turns, 'a')
  await vi.waitUntil(() => second.state === 'begins')
  const again = turns.again(first.request)
  first.request.socket.emit('close')
  await expect(again).rejects.toThrow('the client has left')
})

test.each([
  // Its text itself is not parsed.
  ['one text of a mebibyte', JSON.stringify({ body: 'x'.repeat(MIB) }), '{"body":null}'],
  [
    'a thousand messages of 20 kB',
    JSON.stringify({ messages: Array.from({ length: 1000 }, () => ({ body: 'x'.repeat(9) })) }),
    undefined,
  ],
])(
  'of bodies that arrive at the same time, each %s, no two are parsed in one pass of the loop',
  async (_what, text, parsed = text) => {
    await using app = await startApp(inject('redisPort'))
    const statuses = await postAtOnce(
      app.url,
      Array(6).fill('/v1/feeds/large/messages?retentionCount=1'),
      text,
    )
    const passes = passesOfParsing(parsed)

    expect(new Set(await statuses())).toEqual(new Set([201]))
    expect(passes).toHaveLength(6)
    expect(new Set(passes).size).toBe(6)
  },
)

test('posts to queues that are not known yet are processed one at a time after their lookups', async () => {
  await using app = await startApp(inject('redisPort'))
  const text = JSON.stringify({
    messages: Array.from({ length: 200 }, () => ({ body: 'x'.repeat(90), ttl: 60 })),
  })
  const paths = Array.from({ length: 6 }, (_, at) => `/v2/queues/unknown${at}/messages`)
  const known = allAtOnce(Registry.prototype, 'recall', 6)
  const statuses = await postAtOnce(app.url, paths, text)
  const passes = passesOfParsing(text)
  const answered = statuses()
  await known

  expect(new Set(await answered)).toEqual(new Set([201]))
  expect(passes).toHaveLength(6)
  expect(new Set(passes).size).toBe(6)
})

test('jobs for queues that are not known yet are enqueued one body at a time after their lookups', async () => {
  await using app = await startApp(inject('redisPort'))
  const text = JSON.stringify({
    jobs: Array.from({ length: 200 }, () => ({ name: 'x', payload: 'x'.repeat(90) })),
  })
  const paths = Array.from({ length: 6 }, (_, at) => `/v1/queues/unknown${at}/jobs`)
  const known = allAtOnce(KnownQueues.prototype, 'begin', 6)
  const statuses = await postAtOnce(app.url, paths, text)
  const passes: number[] = []
  const pass = passesOfTheLoop()
  const { enqueueMany } = Queue.prototype
  const spied = vi.spyOn(Queue.prototype, 'enqueueMany').mockImplementation(function (this: Queue, jobs) {
    passes.push(pass())
    return enqueueMany.call(this, jobs)
  })
  onTestFinished(() => spied.mockRestore())
  const answered = statuses()
  await known

  expect(new Set(await answered)).toEqual(new Set([201]))
  expect(passes).toHaveLength(6)
  expect(new Set(passes).size).toBe(6)
})

test('many items of a collection are parsed, split, and encoded in a pass of the loop each', async () => {
  await using app = await startApp(inject('redisPort'))
  const text = JSON.stringify({ items: Array.from({ length: 5000 }, (_, at) => at) })
  const passes = passesOfParsing(text)
  const pass = passesOfTheLoop()
  const { replace } = Collection.prototype
  const spied = vi.spyOn(Collection.prototype, 'replace').mockImplementation(function (
    this: Collection<unknown>,
    ...given
  ) {
    passes.push(pass())
    return replace.apply(this, given)
  })
  onTestFinished(() => spied.mockRestore())

  expect((await app.call('PUT', '/v1/collections/set/many', { body: text })).status).toBe(200)
  const [parsed = 0, encoded = 0] = passes
  expect(encoded - parsed).toBe(2)
})

/** Requests that are complete except for a byte. The function sends the last bytes, and returns the statuses. */
async function postAtOnce(
  url: string,
  paths: readonly string[],
  text: string,
): Promise<() => Promise<number[]>> {
  const statuses: Promise<number>[] = []
  for (const path of paths) {
    const socket = await openSocket(url)
    sockets.push(socket)
    statuses.push(readStatus(socket))
    const head = [
      `POST ${path} HTTP/1.1`,
      'Host: localhost',
      'Client-ID: 3381af92-2b9e-11e3-b191-71861300734c',
      'X-Project-ID: turns',
      'Content-Type: application/json',
      `Content-Length: ${text.length}`,
    ].join('\r\n')
    await new Promise((resolve) => socket.write(`${head}\r\n\r\n${text.slice(0, -1)}`, resolve))
  }
  return () => {
    for (const socket of sockets) socket.write(text.slice(-1))
    return Promise.all(statuses)
  }
}

/** Holds the first calls of this method, and resolves them all at once. Resolves when all were made. */
function allAtOnce<Method extends string>(
  of: Record<Method, (...args: never[]) => Promise<unknown>>,
  method: Method,
  count: number,
): Promise<void> {
  const original = of[method]
  let [asked, open] = [0, (): void => undefined]
  const all = new Promise<void>((resolve) => (open = resolve))
  of[method] = async function (this: unknown, ...args) {
    const answer = await original.apply(this, args)
    asked += 1
    if (asked === count) open()
    await all
    return answer
  }
  onTestFinished(() => {
    of[method] = original
  })
  return all
}

/** The pass of the event loop in which each of these texts is parsed, from here on. */
function passesOfParsing(wanted: string): number[] {
  const passes: number[] = []
  const pass = passesOfTheLoop()
  const { parse } = JSON
  const spied = vi.spyOn(JSON, 'parse').mockImplementation((text: string, ...rest) => {
    if (text === wanted) passes.push(pass())
    return parse(text, ...rest) as unknown
  })
  onTestFinished(() => spied.mockRestore())
  return passes
}

/** The number of the present pass, from here on. */
function passesOfTheLoop(): () => number {
  let [pass, isOver] = [0, false]
  const count = (): void => {
    pass += 1
    if (!isOver) setImmediate(count)
  }
  count()
  onTestFinished(() => {
    isOver = true
  })
  return () => pass
}
