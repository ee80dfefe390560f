import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { PassThrough, pipeline } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { Headers } from './answer.ts'
import { record } from './record-node-response.ts'
import type { HandlerResponse } from './response-recorder.ts'

/** Serves one response that is recorded; resolves to the unhandled rejections, and to how the request ended. */
async function serve(
  handle: (response: ServerResponse) => void,
  before: (response: ServerResponse) => void = () => undefined,
): Promise<{ unhandled: unknown[]; end: string }> {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  const server = createServer((_, response) => {
    before(response)
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

test('callbacks of a write and of an end that come too late are called', async () => {
  const called: unknown[] = []
  const note = (what: string) => (error?: unknown) =>
    void called.push([what, (error as { code?: string })?.code])
  const what = await serve((response) => {
    response.end('done')
    response.write('more', note('write') as never)
    response.end('more', note('end') as never)
  })

  expect(what).toEqual({ unhandled: [], end: 'done' })
  await expect
    .poll(() => called)
    .toEqual([
      ['write', 'ERR_STREAM_WRITE_AFTER_END'],
      ['end', undefined],
    ])
})

test('a response that cannot be sent is destroyed without an unhandled rejection', async () => {
  const throwing = (response: ServerResponse): void => {
    response.end = () => {
      throw new Error('no store for the session')
    }
  }
  const what = await serve((response) => void response.end('done'), throwing)

  expect(what).toEqual({ unhandled: [], end: 'broken off' })
})

const refused: [what: string, refuse: (response: ServerResponse) => unknown][] = [
  ['an invalid chunk', (response) => response.write(undefined)],
  ['a chunk of 16-bit numbers', (response) => response.write(new Uint16Array([1]))],
  ['an invalid last chunk', (response) => response.end({ no: 'bytes' } as never)],
  [
    'an invalid reason before the end',
    (response) => Object.assign(response, { statusMessage: 'two\nlines' }).end('done'),
  ],
  ['an invalid reason in the head', (response) => response.writeHead(201, 'two\nlines')],
  [
    'an invalid status before the end',
    (response) => Object.assign(response, { statusCode: 1000 }).end('done'),
  ],
  ['an invalid status in the head', (response) => response.writeHead(99)],
  ['an invalid header in the head', (response) => response.writeHead(201, { 'X-Odd': 'two\nlines' })],
]

test.each(refused)('Node rejects %s at once, and the answer that follows is stored', async (_, refuse) => {
  const thrown: unknown[] = []
  const { kept, port } = await recorded((response) => {
    try {
      refuse(response)
    } catch (error) {
      thrown.push(error)
    }
    response.statusCode = 500
    response.statusMessage = ''
    response.end('failed')
  })

  const answer = await fetch(`http://127.0.0.1:${port}`)
  expect([answer.status, await answer.text()]).toEqual([500, 'failed'])
  expect(thrown).toEqual([expect.any(Error)])
  expect(kept).toEqual([{ status: 500, headers: [], body: 'failed' }])
})

test.each(['write', 'end'] as const)(
  'headers added while the head is written are stored, and added once (%s)',
  async (how) => {
    let added = 0
    const { kept, port } = await recorded((response) => {
      const { writeHead } = response
      response.writeHead = (status: number) => {
        added += 1
        response.appendHeader('Set-Cookie', `visit=${added}`)
        response.statusMessage = 'Made'
        return writeHead.call(response, status + 1)
      }
      response.statusCode = 200
      if (how === 'write') response.write('do')
      response.end(how === 'write' ? 'ne' : 'done')
    })

    const answer = await fetch(`http://127.0.0.1:${port}`)
    expect([answer.status, answer.statusText, await answer.text()]).toEqual([201, 'Made', 'done'])
    expect(answer.headers.getSetCookie()).toEqual(['visit=1'])
    expect(answer.headers.get('content-length')).toBe(how === 'write' ? null : '4')
    expect(kept).toEqual([{ status: 201, headers: [['Set-Cookie', 'visit=1']], body: 'done' }])
  },
)

const late: [what: string, change: (response: ServerResponse) => unknown][] = [
  ['a status', (response) => (response.statusCode = 500)],
  ['a header', (response) => response.setHeader('content-length', '2')],
  ['an appended header', (response) => response.appendHeader('x-late', '1')],
  ['headers', (response) => response.setHeaders(new Map([['content-length', '2']]))],
  ['a removed header', (response) => response.removeHeader('content-type')],
  ['another head', (response) => response.writeHead(500, { 'content-length': '2' })],
  ['a flushed head', (response) => response.flushHeaders()],
  ['another chunk', (response) => response.write('more')],
  ['another end', (response) => response.end('more')],
  ['a trailer', (response) => response.addTrailers({ 'x-late': '1' })],
  ['an early hint', (response) => response.writeEarlyHints({ link: '</late.css>; rel=preload' })],
  ['a processing response', (response) => response.writeProcessing()],
]

test.each(late)('after the end, while the response is being stored, %s has no effect', async (_, change) => {
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

  // Over one connection: surplus bytes would begin the next answer.
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

/** A server whose responses are recorded; `kept` collects the stored responses. */
async function recorded(handle: (response: ServerResponse) => void) {
  const kept: { status: number; headers: Headers; body: string | null }[] = []
  const server = createServer((_request, response) => {
    const keep = async ({ status, headers, body }: HandlerResponse): Promise<void> => {
      await nextTurn()
      kept.push({ status, headers: [...headers], body: body === null ? null : String(body) })
    }
    record(response, { keep }, 1000)
    handle(response)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  return { kept, port: (server.address() as AddressInfo).port }
}

const written: [how: string, write: (response: ServerResponse) => unknown][] = [
  [
    'an object',
    (response) => response.writeHead(201, { 'Content-Type': 'text/csv', Link: ['</a>', '</b>'] }),
  ],
  [
    'a list',
    (response) => response.writeHead(201, ['Content-Type', 'text/csv', 'Link', '</a>', 'link', '</b>']),
  ],
  [
    'pairs',
    (response) =>
      response.writeHead(201, [
        ['Content-Type', 'text/csv'],
        ['Link', ['</a>', '</b>']],
      ] as never),
  ],
  [
    'an object after a message',
    (response) => response.writeHead(201, 'Made', { 'Content-Type': 'text/csv', Link: ['</a>', '</b>'] }),
  ],
  [
    'headers set before',
    (response) => {
      response.setHeader('Content-Type', 'text/csv')
      response.setHeader('Link', ['</a>', '</b>'])
      response.writeHead('201' as never)
    },
  ],
]

test.each(written)('a head written as %s is stored as it is sent', async (_, write) => {
  const { kept, port } = await recorded((response) => {
    write(response)
    // Neither has an effect on the sent head.
    response.statusCode = 500
    response.end('a,b')
  })

  const answer = await fetch(`http://127.0.0.1:${port}`)

  expect([answer.status, answer.headers.get('content-type'), answer.headers.get('link')]).toEqual([
    201,
    'text/csv',
    '</a>, </b>',
  ])
  expect(kept).toEqual([
    {
      status: 201,
      headers: [
        ['Content-Type', 'text/csv'],
        ['Link', '</a>'],
        ['Link', '</b>'],
      ],
      body: 'a,b',
    },
  ])
})

test('a head that cannot be written leaves no header behind', async () => {
  const { kept, port } = await recorded((response) => {
    expect(() => response.writeHead(99, { 'X-Left': '1' })).toThrow('Invalid status code')
    response.end('fine')
  })

  const answer = await fetch(`http://127.0.0.1:${port}`)

  expect([answer.status, answer.headers.get('x-left')]).toEqual([200, null])
  expect(kept).toEqual([{ status: 200, headers: [], body: 'fine' }])
})

const failing: [how: string, fail: (response: ServerResponse) => unknown][] = [
  ['the connection', (response) => response.socket?.destroy()],
  ['the response', (response) => response.destroy(new Error('failed'))],
]

test.each(failing)(
  'destroying %s after the end takes effect once the response has been sent',
  async (_, fail) => {
    const { kept, port } = await recorded((response) => {
      response.end('done')
      fail(response)
    })

    const socket = connect(port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n')
    let answer = ''
    socket.on('data', (bytes) => (answer += String(bytes))).on('error', () => undefined)
    await once(socket, 'close')

    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\ndone$/)
    expect(kept).toHaveLength(1)
  },
)

const leaving: [how: string, handle: (response: ServerResponse) => unknown][] = [
  ['piped', (response) => new PassThrough().pipe(response)],
  ['in a pipeline', (response) => pipeline(new PassThrough(), response, () => undefined)],
]

test.each(leaving)(
  'a stream that is %s is ended when its client disconnects before it begins',
  async (_, handle) => {
    let begun: () => void = () => undefined
    const isBegun = new Promise<void>((resolve) => (begun = resolve))
    const { kept, port } = await recorded((response) => {
      handle(response)
      begun()
    })
    const socket = connect(port, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n')
    await isBegun

    socket.destroy()

    await expect.poll(() => kept.map(({ body }) => body)).toEqual([null])
  },
)

test.each([
  ['an event stream', 'text/event-stream', 1],
  ['a response that is too large to store', 'text/plain', 11],
])('%s is reported at once, although it continues', async (_, type, chunks) => {
  const reported: number[] = []
  const kept: unknown[] = []
  const server = createServer((_request, response) => {
    const keep = async ({ body }: HandlerResponse): Promise<void> => void kept.push(body)
    record(response, { keep, willNotBeKept: ({ status }) => void reported.push(status) }, 1000)
    response.setHeader('content-type', type)
    for (let chunk = 0; chunk < chunks; chunk += 1) response.write('x'.repeat(100))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  const { body } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)

  await expect.poll(() => reported).toEqual([200])
  expect(kept).toEqual([])
  await body?.cancel()
  await expect.poll(() => kept).toEqual([null])
})

test('writes do not wait for the client while the body is collected, and do so beyond its limit', async () => {
  const size = 1_000_000
  const taken: boolean[] = []
  const server = createServer((_request, response) => {
    record(response, { keep: async () => undefined }, 3 * size)
    for (let chunk = 0; chunk < 5; chunk += 1) taken.push(response.write(Buffer.alloc(size)))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')

  await expect.poll(() => taken).toEqual([true, true, true, false, false])
  client.destroy()
})
