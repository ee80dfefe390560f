import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { record } from './record-node-response.ts'

/** Serves one recorded response of this handler; resolves to what nobody handled, and how the request ended. */
async function serve(
  handle: (response: ServerResponse) => void,
): Promise<{ unhandled: unknown[]; end: string }> {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  const server = createServer((_, response) => {
    record(response, { keep: async () => undefined }, 1000)
    handle(response)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    process.off('unhandledRejection', note)
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  const answering = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const end = await answering.then(
    (answer) => answer.text(),
    () => 'broken off',
  )
  return { unhandled, end }
}

test('a response is sent once it is kept', async () => {
  expect(await serve((response) => void response.end('done'))).toEqual({ unhandled: [], end: 'done' })
})

test('a response that cannot be sent is broken off, and is no unhandled rejection', async () => {
  const what = await serve((response) => void response.end({ no: 'bytes' } as never))

  expect(what).toEqual({ unhandled: [], end: 'broken off' })
})

const late: [what: string, change: (response: ServerResponse) => unknown][] = [
  ['a status', (response) => (response.statusCode = 500)],
  ['a header', (response) => response.setHeader('content-length', '2')],
  ['a header added', (response) => response.appendHeader('x-late', '1')],
  ['headers', (response) => response.setHeaders(new Map([['content-length', '2']]))],
  ['a header taken away', (response) => response.removeHeader('content-type')],
  ['a head', (response) => response.writeHead(500, { 'content-length': '2' })],
  ['a head sent', (response) => response.flushHeaders()],
  ['a chunk', (response) => response.write('more')],
  ['an end', (response) => response.end('more')],
]

test.each(late)('after the end, while the response is kept, %s comes too late', async (_, change) => {
  const kept: unknown[] = []
  const sent: boolean[] = []
  const server = createServer((_request, response) => {
    const keep = async ({ status }: { status: number }): Promise<void> => {
      await nextTurn()
      kept.push(status)
    }
    record(response, { keep }, 1000)
    response.setHeader('content-type', 'text/plain')
    response.end('done')
    sent.push(response.headersSent, response.writableEnded)
    try {
      change(response)
    } catch (error) {
      sent.push((error as { code?: unknown }).code === 'ERR_HTTP_HEADERS_SENT')
    }
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  // Over one connection: what is too much would begin the next answer.
  for (const answer of [await fetch(url), await fetch(url)]) {
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/plain',
      'content-length': '4',
    })
    expect(answer.headers.get('x-late')).toBe(null)
    expect(await answer.text()).toBe('done')
  }
  expect(kept).toEqual([200, 200])
  expect(sent).not.toContain(false)
})
