import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate as passOfTheLoop } from 'node:timers/promises'
import { afterEach, expect, inject, onTestFinished, test, vi } from 'vitest'
import { BodyTurns } from './body-turns.ts'
import { openSocket, readStatus } from './testing/raw-request.ts'
import { startApp } from './testing/test-app.ts'

const MIB = 1024 * 1024
const sockets: Socket[] = []

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

interface Taken {
  readonly request: { readonly socket: Socket }
  /** `waits`, `begins`, or why not. */
  state: string
}

function take(turns: BodyTurns, share: string, bytes = MIB): Taken {
  const socket = Object.assign(new EventEmitter(), { destroyed: false })
  const taken: Taken = { request: { socket: socket as unknown as Socket }, state: 'waits' }
  turns.take(share, taken.request, bytes).then(
    () => (taken.state = 'begins'),
    (error: Error) => (taken.state = error.message),
  )
  return taken
}

/** Ends the turn of what is at work, and tells whose is the next. */
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

test('large bodies are worked on one at a time, those of shares in turn, and small ones at once', async () => {
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

test('whose client leaves has no turn, and none that lasts', async () => {
  const turns = new BodyTurns()
  const [first, second, third] = [take(turns, 'a'), take(turns, 'a'), take(turns, 'a')]
  second.request.socket.emit('close')
  await passOfTheLoop()
  expect(second.state).toBe('the client has left')

  first.request.socket.emit('close')
  await vi.waitUntil(() => third.state === 'begins')
})

test('a body that is refused, or whose client has left, gives its turn to the next', async () => {
  await using app = await startApp(inject('redisPort'))
  const body = `[${'1,'.repeat(100_000)}1]`
  const calls = [body, `${body}]`, body].map((sent) =>
    app.call('POST', '/v1/feeds/f/messages', { body: sent }),
  )
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([400, 400, 400])
})

test('of large bodies that are in at the same time no two are parsed in one pass of the loop', async () => {
  await using app = await startApp(inject('redisPort'))
  const text = JSON.stringify({ body: 'x'.repeat(MIB) })
  const head = [
    'POST /v1/feeds/large/messages?keepCount=1 HTTP/1.1',
    'Host: localhost',
    'Content-Type: application/json',
    `Content-Length: ${text.length}`,
  ].join('\r\n')
  const statuses: Promise<number>[] = []
  for (let at = 0; at < 6; at += 1) {
    const socket = await openSocket(app.url)
    sockets.push(socket)
    statuses.push(readStatus(socket))
    await new Promise((resolve) => socket.write(`${head}\r\n\r\n${text.slice(0, -1)}`, resolve))
  }
  const passes = passesOfParsing(MIB)
  for (const socket of sockets) socket.write('}')

  expect(new Set(await Promise.all(statuses))).toEqual(new Set([201]))
  expect(passes).toHaveLength(6)
  expect(new Set(passes).size).toBe(6)
})

/** In which pass of the event loop each text of so many bytes was parsed, from now on. */
function passesOfParsing(bytes: number): number[] {
  const passes: number[] = []
  let [pass, isOver] = [0, false]
  const count = (): void => {
    pass += 1
    if (!isOver) setImmediate(count)
  }
  count()
  const { parse } = JSON
  const spied = vi.spyOn(JSON, 'parse').mockImplementation((text: string, ...rest) => {
    if (text.length >= bytes) passes.push(pass)
    return parse(text, ...rest) as unknown
  })
  onTestFinished(() => {
    isOver = true
    spied.mockRestore()
  })
  return passes
}
