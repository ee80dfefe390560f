// Over HTTP/2 a body needs no header.

import { randomUUID } from 'node:crypto'
import { once as onceEmitted } from 'node:events'
import { connect, type ClientHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import fastify from 'fastify'
import { idempotency, responseCache } from 'perilune/fastify'
import { expect, onTestFinished, test } from 'vitest'
import { setup } from './fixture.ts'

/** An app whose handlers read the body themselves, and a client. */
async function startUnparsed(): Promise<ClientHttp2Session> {
  const { redis } = setup()
  const app = fastify({ http2: true })
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.post('/pay', { ...idempotency(redis.once(randomUUID()), { subject: () => 'one' }) }, (request) =>
    text(request.raw),
  )
  app.get('/search', { ...responseCache(redis.cache(randomUUID(), { ttl: '1m' })) }, (request) =>
    text(request.raw),
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  const session = connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`)
  onTestFinished(async () => {
    session.close()
    await app.close()
  })
  return session
}

async function ask(session: ClientHttp2Session, headers: Record<string, string>, body: string | null) {
  const request = session.request(headers, { endStream: body === null })
  if (body !== null) request.end(body)
  const [answered] = (await onceEmitted(request, 'response')) as [Record<string, unknown>]
  return { status: answered[':status'], cached: answered['cache-status'], text: await text(request) }
}

test('a body that no parser has read is an error for idempotency', async () => {
  const session = await startUnparsed()
  const headers = { ':method': 'POST', ':path': '/pay', 'idempotency-key': '"k"' }

  const { status, text: said } = await ask(session, headers, 'a body')

  expect([status, said.includes('has not been parsed')]).toEqual([500, true])
})

test('a request that ends with an empty frame has no body', async () => {
  const session = await startUnparsed()
  const headers = { ':method': 'POST', ':path': '/pay', 'idempotency-key': '"k"' }

  expect(await ask(session, headers, '')).toMatchObject({ status: 200, text: '' })
})

test('a GET with a body reaches the handler, and one without is kept', async () => {
  const session = await startUnparsed()
  const headers = { ':method': 'GET', ':path': '/search' }

  const answers = [await ask(session, headers, 'one'), await ask(session, headers, 'two')]
  const [first, second] = [await ask(session, headers, null), await ask(session, headers, null)]

  expect(answers.map((answer) => answer.text)).toEqual(['one', 'two'])
  expect([first.text, String(second.cached).includes('hit')]).toEqual(['', true])
})
