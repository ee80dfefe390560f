// Processes that flush and are killed with kill -9, at each step of a flush.

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { LONG, SEED } from '../proof.ts'
import { dice } from '../simulator/stage.ts'
import { countHere, Reader } from './counters-counting.ts'
import { openScene, type Scene } from './counters-scene.ts'
import { flushUntil, STEPS, setTraps, type Step, type Traps } from './counters-steps.ts'

const KILLS = LONG ? 50 : 1

/** Commands that the process had sent may still arrive. */
async function killAt(scene: Scene, traps: Traps, step: Step, arrives: boolean): Promise<void> {
  const { process, caught } = await flushUntil(scene, traps, step)
  if (step.isSettling === true) {
    caught?.pass()
    await sleep(20)
  }
  await process.kill()
  if (arrives) caught?.pass()
  else caught?.drop()
}

/** For the other databases the short form runs only their own cases. */
const steps = (kind: string): Step[] =>
  STEPS.filter(({ matching }) => LONG || kind === 'postgres' || matching.test(' COMMIT'))

describe.each(['postgres', 'mariadb', 'sqlite'] as const)('a flush into %s', (kind) => {
  test.each(steps(kind))(
    'that is killed $what is completed by another flush, and each increment counts once',
    {
      timeout: LONG ? 1_200_000 : 120_000,
    },
    async (step) => {
      const scene = await openScene(kind)
      const { books } = scene
      const roll = dice(SEED)
      const traps = await setTraps(scene)
      const { counters } = scene.connect()
      const reader = new Reader(scene.connect().counters, () => books.newestIds)

      for (let kill = 0; kill < KILLS; kill++) {
        const counting = countHere(counters, books)
        await sleep(5)
        await killAt(scene, traps, step, roll(2) === 0)
        await counting.stop()
        await counters.flush()
        expect(books.faults(await scene.stored())).toEqual([])
      }
      await reader.stop()

      await scene.holds(`${KILLS} processes killed ${step.what}`, counters)
      expect(reader.faults).toEqual([])
      expect(books.count('acked')).toBe(books.size)
    },
  )
})
