// Redis, which persists every write, is killed and started again while processes count and flush.

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { LONG, SEED } from '../proof.ts'
import { startRedis } from '../servers/redis.ts'
import { dice } from '../simulator/stage.ts'
import { Reader } from './counters-counting.ts'
import { startProcess } from './counters-process.ts'
import { openScene } from './counters-scene.ts'

const KILLS = LONG ? 20 : 3
/** Those of the second process give up before Redis is back, and do not know. */
const DEADLINES = ['5s', '200ms'] as const

describe.each(LONG ? (['postgres', 'mariadb', 'sqlite'] as const) : (['postgres'] as const))(
  'counters over %s',
  (kind) => {
    test('are in the database once each after Redis was killed, and those in doubt at most once', {
      timeout: 300_000,
    }, async () => {
      const server = await startRedis({ aof: 'always' })
      onTestFinished(() => server.stop())
      const scene = await openScene(kind, server.port)
      const { books } = scene
      const roll = dice(SEED)
      const counting = await Promise.all(
        DEADLINES.map((deadline, first) => startProcess(scene, { deadline, first, step: 2 })),
      )
      const flushing = await Promise.all([startProcess(scene), startProcess(scene)])
      const { counters } = scene.connect()
      const reader = new Reader(scene.connect().counters, () => books.newestIds)
      for (const each of counting) each.tell({ do: 'count' })
      for (const each of flushing) each.tell({ do: 'flush-on' })

      for (let kill = 0; kill < KILLS; kill++) {
        await sleep(200 + roll(400))
        await server.kill()
        await sleep(roll(500))
        await server.restart()
      }
      await sleep(200)
      for (const each of counting) each.tell({ do: 'stop' })
      for (const each of counting) await each.says('stopped')
      // A call in doubt may still wait for a connection, and would be counted after the last flush.
      for (const each of [...counting, ...flushing]) await each.kill()
      await reader.stop()

      await scene.holds(`${KILLS} kills of Redis`, counters)
      expect(reader.faults).toEqual([])
      expect(books.count('doubtful')).toBeGreaterThan(0)
    })
  },
)
