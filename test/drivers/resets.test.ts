// A reply that is taken for the next one's gives a caller the value of another key: the worst that a client can do.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callOf, ECHO, failureOf, scriptOf, untilAnswered } from '../../src/testing/driver-calls.ts'
import type { OpenedDriver } from '../../src/testing/driver-suite.ts'
import { type Proxy, startProxy } from '../servers/proxy.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { waysToOpen } from './client.ts'

let server: RedisServer
let proxy: Proxy

beforeAll(async () => {
  server = await startRedis()
  proxy = await startProxy(server.port)
})
afterAll(async () => {
  await proxy.stop()
  await server.stop()
})

/** The answer for each number; `lost` without an answer. */
function echoes({ driver }: OpenedDriver, numbers: readonly number[]): Promise<unknown[]> {
  const replies = driver.runMany(numbers.map((n) => callOf(ECHO, ['k'], [n])))
  return Promise.all(replies.map((reply) => Promise.race([reply.catch(() => 'lost'), silence()])))
}

function silence(): Promise<string> {
  return sleep(2000, 'silence', { ref: false })
}

describe.each(await waysToOpen('singles'))('%s', (_, open) => {
  test('a connection that is reset during calls assigns no reply to the wrong call', async () => {
    const opened = await open(proxy.port)
    const wrong: unknown[] = []
    try {
      for (let round = 0; round < 5; round++) {
        await sleep(5) // calls of a timer are written at the end of the turn, when the reset has been read
        proxy.resetAll()
        const replies = [await echoes(opened, [1, 2, 3]), await echoes(opened, [1, 2, 3])].flat()
        wrong.push(...replies.filter((reply, at) => reply !== String((at % 3) + 1) && reply !== 'lost'))
      }

      expect(wrong).toEqual([])
    } finally {
      await opened.close()
    }
  })

  // Sent again it might run in a later life of the server.
  test('a call whose answer is lost is not sent again by the client', async () => {
    const opened = await open(proxy.port)
    const keys = [randomUUID()]
    const count = callOf(scriptOf("return redis.call('INCR', KEYS[1])"), keys)
    const look = callOf(scriptOf("return redis.call('GET', KEYS[1])"), keys)
    try {
      await untilAnswered(opened.driver, callOf(ECHO, keys, [1]))
      proxy.cutReplies(1, /INCR/)
      expect(await failureOf(opened.driver.run(count))).toMatchObject({ sent: true })

      // The client sends its commands in their order.
      expect(await untilAnswered(opened.driver, look)).toBe('1')
    } finally {
      await opened.close()
    }
  })
})
