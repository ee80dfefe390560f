// The log has one line for each request, none of them an alarm, and none shows anything after the path. test/over-http/
// checks the same for routes with valid arguments.

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { Logged } from './testing/logged.ts'
import { openSocket, send } from './testing/raw-request.ts'
import { startApp, type TestApp } from './testing/test-app.ts'

/** They have no end. */
const STREAMS = /\/(?:tail|events)$/

const logged = new Logged()
let api: TestApp
beforeAll(async () => {
  api = await startApp(inject('redisPort'), { logTarget: logged })
})
afterAll(() => api[Symbol.asyncDispose]())

test('every described route is requested, and each request is one quiet line', async () => {
  const { paths } = (await api.call('GET', '/v1/openapi.json')).json as { paths: Record<string, object> }
  let asked = 1
  for (const [path, methods] of Object.entries(paths)) {
    if (STREAMS.test(path)) continue
    for (const method of Object.keys(methods)) {
      for (const query of ['', '?origin=a-secret', '?limit=a-secret']) {
        const body = method === 'post' || method === 'put' || method === 'patch' ? { body: {} } : {}
        await api.call(method.toUpperCase(), `${path.replace(/\{\w+\}/g, '1')}${query}`, body)
        asked += 1
      }
    }
  }

  await expect.poll(() => logged.lines.length).toBe(asked)
  expect(logged.alarms).toEqual([])
  expect(logged.has('a-secret')).toBe(false)
})

test('a reader who leaves in the middle of a stream, or of a wait, raises no alarm', async () => {
  await api.call('POST', '/v1/feeds/left/messages', { body: { body: 1 } })
  const paths = [
    '/v1/feeds/left/tail',
    '/v1/feeds/left/tail?after=end&origin=a-secret',
    '/v1/queues/left/events',
    '/v1/feeds/left/messages?after=end&wait=20s&origin=a-secret',
  ]
  for (const path of paths) {
    for (const after of [0, 100]) {
      const socket = await openSocket(api.url)
      send(socket, { path, headers: ['X-Project-ID: test'] })
      if (after > 0) await sleep(after)
      socket.destroy()
      await once(socket, 'close')
    }
  }
  await sleep(300)

  expect(logged.alarms).toEqual([])
  expect(logged.has('a-secret')).toBe(false)
})
