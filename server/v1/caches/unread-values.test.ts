// Cache answers that clients of one tenant do not read have a bound, and keep no other tenant waiting.

import type { Socket } from 'node:net'
import { afterEach, expect, inject, test } from 'vitest'
import { openSocket, send } from '../../testing/raw-request.ts'
import { startApp } from '../../testing/test-app.ts'
import { Unsent } from '../../http/answers/unsent.ts'

const VALUE = '/v1/caches/large/keys/key/value'
const CLIENTS = 60
const MIB = 1024 * 1024
const sockets: Socket[] = []

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

test('clients of one tenant that read no cached value have a common bound, and other tenants get theirs', async () => {
  const unsent = new Unsent({ mostBytes: 32 * MIB })
  await using app = await startApp(inject('redisPort'), { unsent })
  await app.call('PUT', VALUE, { project: 'test', body: { value: 'x'.repeat(3_900_000), ttl: '1h' } })
  await app.call('PUT', '/v1/caches/small/keys/key/value', { project: 'other', body: { value: 1 } })
  expect((await app.call('GET', VALUE, { project: 'test' })).status).toBe(200)

  for (let at = 0; at < CLIENTS; at += 1) {
    const socket = await openSocket(app.url)
    sockets.push(socket.pause())
    // The first ones are in the kernel.
    for (let nth = 0; nth < 4; nth += 1) send(socket, { path: VALUE, headers: ['X-Project-ID: test'] })
  }
  let most = 0
  const statuses: number[] = []
  // Answers arrive with pauses between them.
  const until = performance.now() + 20_000
  while (statuses.length < 60 || (most < 10 * MIB && performance.now() < until)) {
    const { status } = await app.call('GET', '/v1/caches/small/keys/key/value', { project: 'other' })
    statuses.push(status)
    most = Math.max(most, unsent.bytes)
  }

  expect(new Set(statuses)).toEqual(new Set([200]))
  expect(most).toBeGreaterThan(10 * MIB)
  // Half of the bound, and the answers in progress.
  expect(most).toBeLessThan(28 * MIB)
})
