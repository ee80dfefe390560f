// Increments of counters that Redis has not got, by many processes at once.

import { expect, test } from 'vitest'
import { LONG, tell } from '../proof.ts'
import { startProcess } from './counters-process.ts'
import { openScene } from './counters-scene.ts'

const ROUNDS = LONG ? 100 : 3
const PROCESSES = 8
const EACH = 25

test.each(LONG ? (['postgres', 'mariadb', 'sqlite'] as const) : (['postgres'] as const))(
  'two hundred first increments by eight processes add to the value in %s, and each sees its own sum',
  { timeout: 300_000 },
  async (kind) => {
    const scene = await openScene(kind)
    const processes = await Promise.all(Array.from({ length: PROCESSES }, () => startProcess(scene)))
    const { counters } = scene.connect()
    await using _flushing = counters.flushEvery('1ms')

    for (let id = 1; id <= ROUNDS; id++) {
      const before = id * 1000
      await scene.place.run(`INSERT INTO items (id, votes) VALUES (${id}, ${before})`)
      for (const each of processes) each.tell({ do: 'first', id: String(id), times: EACH })
      const said = await Promise.all(processes.map((each) => each.says('values')))
      const seen = said.flatMap(({ values }) => values.map(Number)).toSorted((one, other) => one - other)
      await counters.flush()

      expect(seen).toEqual(Array.from({ length: PROCESSES * EACH }, (_, at) => before + at + 1))
      expect((await scene.stored())[id]).toBe(String(before + PROCESSES * EACH))
      expect(await counters.get(id)).toBe(before + PROCESSES * EACH)
    }
    tell(`counters on ${kind}: ${ROUNDS} times 200 first increments at once`)
  },
)
