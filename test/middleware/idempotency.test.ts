import { type IdempotencyOptions, withIdempotency } from 'perilune/middleware'
import { expect, test } from 'vitest'
import { gate } from '../once-fixture.ts'
import { codeOf, post, seen, setup, unreachable } from './fixture.ts'

type Handler = (request: Request) => Response | Promise<Response>

interface Handled {
  handle(request: Request): Promise<Response>
  runs(): number
}

function handling(handler: Handler, options: IdempotencyOptions<Request> = {}): Handled {
  let runs = 0
  const { once } = setup()
  const handle = withIdempotency(once, options, (request) => {
    runs += 1
    return handler(request)
  })
  return { handle, runs: () => runs }
}

const created: Handler = async (request) =>
  Response.json({ got: await request.json() }, { status: 201, headers: { location: '/orders/1' } })

test('a request that is repeated with its key gets the same response, and runs once', async () => {
  const { handle, runs } = handling(created)
  const first = await handle(post('"k1"'))
  const again = await handle(post('k1'))

  expect(await seen(first)).toEqual({ status: 201, body: '{"got":{"item":1}}', replayed: null })
  expect(again.headers.get('location')).toBe('/orders/1')
  expect(again.headers.get('content-type')).toBe('application/json')
  expect(await seen(again)).toEqual({ status: 201, body: '{"got":{"item":1}}', replayed: 'true' })
  expect(runs()).toBe(1)
})

test('the same key with another body, path or method is rejected with 422', async () => {
  const { handle, runs } = handling(created)
  await handle(post('k'))
  const others = [
    post('k', '{"item":2}'),
    post('k', '{"item":1}', '/orders?x=1'),
    new Request(post('k'), { method: 'PATCH' }),
  ]

  for (const other of others) {
    const response = await handle(other)
    expect(response.status).toBe(422)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(await codeOf(response)).toBe('conflict')
  }
  expect(runs()).toBe(1)
})

test('a form that is encoded again is the same request, and one with another file is not', async () => {
  const { handle, runs } = handling(async (request) => Response.json([...(await request.formData()).keys()]))
  const sends = (bytes: string): Request => {
    const body = new FormData()
    body.append('picture', new File([bytes], 'tea.png'))
    return new Request('http://localhost/orders', {
      method: 'POST',
      headers: { 'idempotency-key': 'k' },
      body,
    })
  }
  const statuses: number[] = []
  for (const bytes of ['one', 'one', 'another']) statuses.push((await handle(sends(bytes))).status)

  expect(statuses).toEqual([200, 200, 422])
  expect(runs()).toBe(1)
})

test('while the first request is under way, the second gets 409 and Retry-After', async () => {
  const { opened, open } = gate()
  const { handle, runs } = handling(async () => {
    await opened
    return new Response('done')
  })
  const first = handle(post('k'))
  await expect.poll(runs).toBe(1)

  const second = await handle(post('k'))

  expect(second.status).toBe(409)
  expect(second.headers.get('retry-after')).toBe('1')
  expect(await second.json()).toMatchObject({ title: 'Running', code: 'running', retryAfterMs: 1000 })
  open()
  expect(await (await first).text()).toBe('done')
  expect(await seen(await handle(post('k')))).toEqual({ status: 200, body: 'done', replayed: 'true' })
})

test('a request without the header passes, unless the header is required', async () => {
  const free = handling(created)
  expect([await free.handle(post(null)), await free.handle(post(null))].map(({ status }) => status)).toEqual([
    201, 201,
  ])
  expect(free.runs()).toBe(2)

  const strict = handling(created, { required: true })
  const refused = await strict.handle(post(null))
  expect(refused.status).toBe(400)
  expect(await codeOf(refused)).toBe('idempotency-key-missing')
  await strict.handle(new Request('http://localhost/orders', { method: 'PUT', body: '{}' }))
  expect(strict.runs()).toBe(1)
})

test.each(['""', '"open', '"a", "b"', '"a";p=1', 'two words', 'a,b', `"${'x'.repeat(256)}"`, '"\\n"'])(
  'the malformed key %s is rejected with 400',
  async (header) => {
    const { handle, runs } = handling(created)

    const response = await handle(post(header))

    expect(response.status).toBe(400)
    expect(await codeOf(response)).toBe('idempotency-key-malformed')
    expect(runs()).toBe(0)
  },
)

test('a key may hold spaces, quotes and braces when it is a structured string', async () => {
  const { handle, runs } = handling(created)
  await handle(post('"{a} \\"b\\" \\\\c:"'))

  expect((await handle(post('"{a} \\"b\\" \\\\c:"'))).headers.get('idempotency-replayed')).toBe('true')
  expect(runs()).toBe(1)
})

test('responses of 400 are kept, those of 500 are not', async () => {
  const statuses = [500, 404]
  const { handle, runs } = handling(() => new Response('x', { status: statuses.shift() ?? 200 }))

  const got = [await handle(post('k')), await handle(post('k')), await handle(post('k'))]

  expect(got.map(({ status }) => status)).toEqual([500, 404, 404])
  expect(runs()).toBe(2)
})

test('a handler that throws frees the key', async () => {
  let broken = true
  const { handle } = handling((request) => {
    if (broken) throw new Error('broken')
    return created(request)
  })
  await expect(handle(post('k'))).rejects.toThrow('broken')
  broken = false

  expect((await handle(post('k', '{"item":2}'))).status).toBe(201)
})

test('bytes come back as bytes, and a response without a body stays without one', async () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, at) => at)
  const binary = handling(() => new Response(bytes))
  await binary.handle(post('k'))
  expect(new Uint8Array(await (await binary.handle(post('k'))).arrayBuffer())).toEqual(bytes)

  const empty = handling(() => new Response(null, { status: 204 }))
  await empty.handle(post('k'))
  const again = await empty.handle(post('k'))
  expect(again.status).toBe(204)
  expect(again.body).toBeNull()
})

test('a response that is too large is delivered whole, and a repetition gets an error that it was not kept', async () => {
  const large = 'x'.repeat(200_000)
  const { handle, runs } = handling(() => new Response(large, { status: 201 }), { maxBytes: 100_000 })

  const first = await handle(post('k'))
  const again = await handle(post('k'))

  expect(await first.text()).toBe(large)
  expect(again.status).toBe(409)
  expect(await codeOf(again)).toBe('response-not-kept')
  expect(runs()).toBe(1)
})

test('a stream of events is passed on at once, and not kept', async () => {
  const endless = (): ReadableStream<Uint8Array> =>
    new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from('data: 1\n\n')) })
  const { handle } = handling(
    () => new Response(endless(), { headers: { 'content-type': 'text/event-stream' } }),
  )

  const first = await handle(post('k'))
  const reader = first.body?.getReader()

  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: 1\n\n')
  await reader?.cancel()
  expect(await codeOf(await handle(post('k')))).toBe('response-not-kept')
})

test('a request that is too large for the fingerprint is rejected with 413', async () => {
  const { handle, runs } = handling(created, { maxBytes: 1000 })

  const response = await handle(post('k', `"${'x'.repeat(1000)}"`))

  expect(response.status).toBe(413)
  expect(await codeOf(response)).toBe('too-large')
  expect(runs()).toBe(0)
})

test('a request without a body runs once too, and differs from one with a body', async () => {
  const { handle, runs } = handling(() => new Response('done'))
  const headers = { 'idempotency-key': 'k' }
  const bare = (): Request => new Request('http://localhost/orders', { method: 'POST', headers })

  expect(await seen(await handle(bare()))).toEqual({ status: 200, body: 'done', replayed: null })
  expect(await seen(await handle(bare()))).toEqual({ status: 200, body: 'done', replayed: 'true' })
  expect((await handle(post('k'))).status).toBe(422)
  expect(runs()).toBe(1)
})

test('a custom fingerprint decides which requests are the same', async () => {
  const { handle, runs } = handling(created, { fingerprint: (request) => new URL(request.url).pathname })
  await handle(post('k', '{"item":1}'))

  expect((await handle(post('k', '{"item":2}'))).headers.get('idempotency-replayed')).toBe('true')
  expect(runs()).toBe(1)
})

test('two subjects may choose the same key', async () => {
  const { handle, runs } = handling(created, {
    subject: (request) => new URL(request.url).searchParams.get('user') ?? '',
    fingerprint: () => 'same',
  })
  await handle(post('k', '{"item":1}', '/orders?user=ada'))
  await handle(post('k', '{"item":1}', '/orders?user=bob'))

  expect(runs()).toBe(2)
})

test('cookies and unusual headers are not replayed, unless so configured', async () => {
  const { handle } = handling(
    () => new Response('x', { headers: { 'set-cookie': 'a=b', 'x-order': '7', etag: '"e"' } }),
    { keepHeaders: ['X-Order'] },
  )
  await handle(post('k'))

  const { headers } = await handle(post('k'))

  expect([headers.get('set-cookie'), headers.get('x-order'), headers.get('etag')]).toEqual([null, '7', '"e"'])
})

test('while the store is down, a request with a key gets 503 and Retry-After, and one without a key passes', async () => {
  const once = unreachable().once<never>('orders')
  const handle = withIdempotency(once, {}, created)

  const response = await handle(post('k'))

  expect(response.status).toBe(503)
  expect(await codeOf(response)).toBe('unavailable')
  expect((await handle(post(null))).status).toBe(201)
})

test('a response that could not be kept is delivered, and the reason is reported', async () => {
  const { once } = setup()
  const reported: string[] = []
  const handle = withIdempotency(
    once,
    { onNotKept: (error, key) => reported.push(`${key}: ${(error as Error).name}`) },
    async () => {
      await once.clear('k')
      return new Response('done')
    },
  )

  expect(await (await handle(post('k'))).text()).toBe('done')
  expect(reported).toEqual(['k: LeaseLostError'])
})

test('invalid options are rejected when the middleware is created', () => {
  const { once } = setup()
  expect(() => withIdempotency(once, { maxBytes: 5_000_000 }, created)).toThrow('maxBytes')
  expect(() => withIdempotency(once, JSON.parse('{"ttl":1}'), created)).toThrow('options.ttl is not known')
})

test('a missing subject or fingerprint is an error, and no key is shared', async () => {
  const untold: IdempotencyOptions<Request>[] = [
    { subject: () => undefined as never },
    { subject: () => '' },
    { subject: async () => 'ada' } as never,
    { fingerprint: () => undefined as never },
  ]
  for (const options of untold) {
    const { handle, runs } = handling(created, options)
    await expect(handle(post('k'))).rejects.toThrow('must return a string of at least one character')
    expect((await handle(post(null))).status).toBe(201)
    expect(runs()).toBe(1)
  }
})
