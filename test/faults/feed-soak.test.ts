import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { LONG, SEED, tell } from '../proof.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { type Scene, type SoakVerdict, soakFeed, type Trouble } from '../soak/feed-soak.ts'

async function setup(options: Parameters<typeof startRedis>[0] = {}): Promise<RedisServer> {
  const server = await startRedis(options)
  onTestFinished(() => server.stop())
  return server
}

function soak(
  server: RedisServer,
  seed: number,
  forMs: number,
  trouble: (scene: Scene) => Promise<Trouble>,
): Promise<SoakVerdict> {
  const placeOf = () => ({ ports: [server.port], cluster: false })
  const people = { producersEach: 4, observersEach: 1, consumerProcesses: 0 }
  return soakFeed({ placeOf, ...people, forMs, seed, trouble })
}

describe('16 producers and 4 observers in 4 processes', { timeout: 120_000 }, () => {
  test('every observer sees every acknowledged message once and in one order', async () => {
    const server = await setup()

    const verdict = await soak(server, SEED, LONG ? 20_000 : 1000, async () => ({
      windows: [],
      happened: {},
    }))

    tell(`soak, seed ${SEED}: ${JSON.stringify(verdict)}`)
    expect(verdict.faults).toEqual([])
    expect(verdict.totals).toMatchObject({ unknown: 0, failed: 0, observers: 4 })
    expect(verdict.totals.acknowledged).toBeGreaterThan(100)
  })

  test('a server that loses its scripts repeatedly is not noticed by any caller', async () => {
    const server = await setup()
    const client = new Redis(server.port)
    onTestFinished(() => client.disconnect())

    const verdict = await soak(server, SEED + 1, LONG ? 20_000 : 1500, async ({ over }) => {
      const happened = { flushes: 0 }
      for (; !over.aborted; happened.flushes++) {
        await sleep(250)
        await client.script('FLUSH')
      }
      return { windows: [], happened }
    })

    tell(`script flush, seed ${SEED + 1}: ${JSON.stringify(verdict)}`)
    expect(verdict.faults).toEqual([])
    expect(verdict.totals).toMatchObject({ unknown: 0, failed: 0 })
    expect(verdict.happened['flushes']).toBeGreaterThan(3)
  })

  test('a server that is killed and restarted loses and doubles no acknowledged message', async () => {
    const server = await setup({ aof: 'always' })

    const verdict = await soak(server, SEED + 2, LONG ? 20_000 : 3000, async ({ over }) => {
      const happened = { kills: 0 }
      for (; !over.aborted; happened.kills++) {
        await sleep(1200)
        await server.kill()
        await sleep(100)
        await server.restart()
      }
      return { windows: [], happened }
    })

    tell(`kill -9, seed ${SEED + 2}: ${JSON.stringify(verdict)}`)
    expect(verdict.faults).toEqual([])
    expect(verdict.happened['kills']).toBeGreaterThan(1)
  })
})
