import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { LONG, SEED, tell } from '../proof.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { soakFeed } from '../soak/feed-soak.ts'

async function setup(options: Parameters<typeof startRedis>[0] = {}): Promise<RedisServer> {
  const server = await startRedis(options)
  onTestFinished(() => server.stop())
  return server
}

describe('16 producers and 4 observers in 4 processes', { timeout: 120_000 }, () => {
  test('every observer sees every acknowledged message once and in one order', async () => {
    const server = await setup()

    const verdict = await soakFeed({ port: server.port, forMs: LONG ? 20_000 : 4000, seed: SEED })

    tell(`soak, seed ${SEED}: ${JSON.stringify(verdict)}`)
    expect(verdict.faults).toEqual([])
    expect(verdict.acked).toBeGreaterThan(1000)
    expect(verdict.unknown).toBe(0)
  })

  test('a server that forgets its scripts every half second is not noticed by any caller', async () => {
    const server = await setup()
    const client = new Redis(server.port)
    onTestFinished(() => client.disconnect())
    let flushes = 0

    const verdict = await soakFeed({
      port: server.port,
      forMs: LONG ? 20_000 : 3000,
      seed: SEED + 1,
      disturb: async (signal) => {
        for (; !signal.aborted; flushes++) {
          await sleep(500)
          await client.script('FLUSH')
        }
      },
    })

    tell(`script flush, seed ${SEED + 1}: ${flushes} flushes, ${JSON.stringify(verdict)}`)
    expect(verdict.faults).toEqual([])
    expect(verdict.unknown).toBe(0)
    expect(flushes).toBeGreaterThan(3)
  })

  test('a server that is killed and restarted loses and doubles nothing that was acknowledged', async () => {
    const server = await setup({ aof: 'always' })
    let kills = 0

    const verdict = await soakFeed({
      port: server.port,
      forMs: LONG ? 20_000 : 5000,
      seed: SEED + 2,
      disturb: async (signal) => {
        for (; !signal.aborted; kills++) {
          await sleep(1200)
          await server.kill()
          await sleep(100)
          await server.restart()
        }
      },
    })

    tell(`kill -9, seed ${SEED + 2}: ${kills} kills, ${JSON.stringify(verdict)}`)
    expect(verdict.faults).toEqual([])
    expect(kills).toBeGreaterThan(1)
  })
})
