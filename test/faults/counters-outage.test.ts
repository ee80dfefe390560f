// The database is down for a long time while counting continues.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { SinkError } from 'perilune'
import pg from 'pg'
import { createPool } from 'mysql2/promise'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { countOf, LONG, tell } from '../proof.ts'
import type { DatabaseServer } from '../servers/database-server.ts'
import { startMariadb } from '../servers/mariadb.ts'
import { startPostgres } from '../servers/postgres.ts'
import { makeTables } from '../sinks/fixture.ts'
import type { Rows } from '../sinks/places.ts'
import { Reader } from './counters-counting.ts'
import { type Runs, Scene } from './counters-scene.ts'

const AWAY_MS = countOf(600_000, 60_000)
const ROUND_MS = LONG ? 100 : 400
/** So much that the text of a value, and the room that it takes, stays as long as it is. */
const BY = 2 ** 40
const IDS = Array.from({ length: 300 }, (_, at) => String(at + 1))

const DATABASES = [
  { kind: 'postgres', name: 'public', start: startPostgres, open: runsOfPostgres },
  { kind: 'mariadb', name: 'mysql', start: startMariadb, open: runsOfMariadb },
] as const

function runsOfPostgres(port: number): Runs {
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
  pool.on('error', () => undefined) // the connections of a server that was killed
  onTestFinished(() => pool.end())
  return { run: async (sql) => (await pool.query(sql)).rows as Rows }
}

function runsOfMariadb(port: number): Runs {
  const pool = createPool({ host: '127.0.0.1', port, user: 'root', database: 'mysql' })
  onTestFinished(() => pool.end())
  return { run: async (sql) => (await pool.query(sql))[0] as Rows }
}

interface Tally {
  acked: number
  refused: unknown[]
}

/** Increments all counters, round after round. */
async function countAll(each: (id: string) => Promise<unknown>, forMs: number, tally: Tally): Promise<void> {
  const endsAt = performance.now() + forMs
  do {
    const settled = await Promise.allSettled(IDS.map(each))
    for (const one of settled) {
      if (one.status === 'fulfilled') tally.acked += 1
      else tally.refused.push(one.reason)
    }
    await sleep(Math.min(ROUND_MS, forMs))
  } while (performance.now() < endsAt)
}

/** Bytes of all that Redis keeps of these counters. */
async function memoryOf(client: Redis, name: string): Promise<number> {
  const keys = await client.keys(`faults:{counters:${name}:*`)
  const sizes = await Promise.all(keys.map((key) => client.memory('USAGE', key, 'SAMPLES', 0)))
  return sizes.reduce<number>((sum, size) => sum + Number(size ?? 0), 0)
}

async function openOwn({ kind, name, start, open }: (typeof DATABASES)[number]): Promise<{
  scene: Scene
  server: DatabaseServer
}> {
  const server = await start()
  onTestFinished(() => server.stop())
  const runs = open(server.port)
  await makeTables(runs)
  const scene = new Scene(runs, { kind, port: server.port, name }, inject('redisPort'))
  return { scene, server }
}

describe.each(LONG ? DATABASES : DATABASES.slice(0, 1))('$kind is away', (database) => {
  test('and counting continues, in memory that grows with the counters and not with their increments', {
    timeout: AWAY_MS + 120_000,
  }, async () => {
    const { scene, server } = await openOwn(database)
    const { counters, client } = scene.connect()
    const reader = new Reader(scene.connect().counters, () => IDS)
    const tally: Tally = { acked: 0, refused: [] }
    const increment = (id: string): Promise<unknown> => counters.increment(id, BY)
    await countAll(increment, 0, tally)
    await counters.flush()
    const errors: unknown[] = []
    // It gives a batch up again and again, and comes back to it.
    const flushing = scene
      .connect({ deadline: LONG ? '5s' : '500ms' })
      .counters.flushEvery('20ms', { onError: (error) => errors.push(error) })

    await server.kill()
    await countAll(increment, 500, tally)
    await expect.poll(async () => (await counters.inspect()).partitions[0]?.batch).not.toBeNull()
    await countAll(increment, 0, tally)
    const [memory, acked] = [await memoryOf(client, scene.name), tally.acked]
    await countAll(increment, AWAY_MS, tally)

    expect(tally.acked - acked).toBeGreaterThan(10 * IDS.length)
    expect(await memoryOf(client, scene.name)).toBeLessThan(memory * 1.1)
    expect((await counters.inspect()).dirty).toBeLessThanOrEqual(IDS.length)
    await expect(scene.connect({ deadline: '1s' }).counters.get('absent')).rejects.toThrow(SinkError)

    await server.restart()
    await expect.poll(async () => (await counters.inspect()).lagMs, { timeout: 60_000 }).toBe(null)
    await flushing.close()
    await reader.stop()
    const stored = await scene.stored()
    expect(tally.refused).toEqual([])
    expect(Object.values(stored)).toEqual(
      IDS.map(() => String(BigInt(tally.acked / IDS.length) * BigInt(BY))),
    )
    expect((await counters.getMany(IDS)).map(String)).toEqual(IDS.map((id) => stored[id]))
    expect(reader.faults).toEqual([])
    expect(errors.length).toBeGreaterThan(0)
    expect(errors.every((error) => error instanceof SinkError)).toBe(true)
    tell(`counters: ${database.kind} away for ${AWAY_MS} ms, ${tally.acked} increments, none lost`)
  })
})
