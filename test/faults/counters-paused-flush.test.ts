// Processes that flush and stall, at each step of a flush, while others flush the same partition; then they continue.

import { setTimeout as sleep } from 'node:timers/promises'
import { SinkError } from 'perilune'
import type { Counters } from 'perilune/counters'
import { describe, expect, test } from 'vitest'
import { LONG, SEED, someOf } from '../proof.ts'
import { dice } from '../simulator/stage.ts'
import { countHere, countOne, Reader } from './counters-counting.ts'
import { startProcess } from './counters-process.ts'
import { openScene, type Scene } from './counters-scene.ts'
import { flushUntil, STEPS, setTraps, type Step, type Traps } from './counters-steps.ts'

const PAUSES = LONG ? 10 : 1
const FLUSHES = 6
/** Beyond the deadline of calls, in the long form. */
const longestPauseMs = LONG ? 7000 : 10

const HOLDS_A_ROW = new Set(['in its transaction', 'before COMMIT'])
const isOpen = ({ what }: Step): boolean => HOLDS_A_ROW.has(what)
const steps = STEPS.filter(({ isSettling }) => isSettling !== true)
/** For MariaDB the short form runs only its own cases. */
const stepsOf = (kind: string): Step[] =>
  steps.filter(({ matching }) => LONG || kind === 'postgres' || matching.test(' COMMIT'))

const SEALED = STEPS.find(({ what }) => what === 'after it sealed') as Step

async function twoTraps(scene: Scene): Promise<[Traps, Traps]> {
  return [await setTraps(scene), await setTraps(scene)]
}

interface Moment {
  readonly scene: Scene
  /** For the stalled process, and for another. */
  readonly traps: readonly [Traps, Traps]
  readonly step: Step
  readonly roll: (sides: number) => number
}

/** The counting and the flushing processes; the second has less patience for a stalled one. */
interface Others {
  readonly counters: Counters
  readonly flusher: Counters
}

/** One process stalls there while another flushes incoming increments, as far as it can. */
async function pauseAt(moment: Moment, { counters, flusher }: Others): Promise<void> {
  const { scene, traps, step, roll } = moment
  const { process, caught } = await flushUntil(scene, traps[0], step)
  process.pause()
  const arrivesLate = isOpen(step) || roll(2) === 0
  if (!arrivesLate) caught?.pass()
  for (let flush = 0; flush < FLUSHES; flush++) {
    const entry = scene.books.begin()
    scene.books.tell(entry.n, await countOne(counters, entry))
    if (isOpen(step)) await expect(flusher.flush()).rejects.toThrow(SinkError)
    else expect((await flusher.flush()).batches).toBeGreaterThan(0)
  }
  await sleep(roll(longestPauseMs))
  // A pool of five connections has one for this, however often a flush has not been answered.
  expect(await flusher.get(`${999_999 - scene.books.size}`)).toBe(0)
  // The next flush finds the batch of another flush, which only Redis still knows.
  const next = isOpen(step) ? undefined : await flushUntil(scene, traps[1], SEALED)
  if (arrivesLate) caught?.pass()
  process.goOn()
  await process.flushed()
  await process.kill()
  await next?.process.kill()
  next?.caught?.drop()
}

describe.each(someOf(['postgres', 'mariadb'] as const, 1))('a flush into %s', (kind) => {
  test.each(stepsOf(kind))(
    'that stalls $what while others flush corrupts nothing when it continues',
    {
      timeout: LONG ? 1_200_000 : 120_000,
    },
    async (step) => {
      const scene = await openScene(kind)
      const { books } = scene
      const moment = { scene, step, traps: await twoTraps(scene), roll: dice(SEED) }
      const { counters: flusher } = scene.connect({ deadline: isOpen(step) ? '1s' : '5s' })
      const { counters } = scene.connect()
      const reader = new Reader(scene.connect().counters, () => books.newestIds)
      await counters.increment(1_000_000, 0)

      for (let pause = 0; pause < PAUSES; pause++) {
        const counting = countHere(counters, books)
        await pauseAt(moment, { counters, flusher })
        await counting.stop()
        await counters.flush()
        expect(books.faults(await scene.stored())).toEqual([])
      }
      await reader.stop()

      await scene.holds(`${PAUSES} processes paused ${step.what}`, counters)
      expect(reader.faults).toEqual([])
      expect(books.count('acked')).toBe(books.size)
    },
  )

  test.runIf(LONG || kind === 'postgres')(
    'by two processes, one of which stalls repeatedly, writes each increment once',
    { timeout: 300_000 },
    async () => {
      const scene = await openScene(kind)
      const { books } = scene
      const roll = dice(SEED + 1)
      const flushers = await Promise.all([startProcess(scene), startProcess(scene)])
      const { counters } = scene.connect()
      const reader = new Reader(scene.connect().counters, () => books.newestIds)
      const counting = countHere(counters, books)
      for (const flusher of flushers) flusher.tell({ do: 'flush-on' })

      for (let pause = 0; pause < (LONG ? 200 : 20); pause++) {
        const flusher = flushers[pause % 2]
        flusher?.pause()
        await sleep(roll(150))
        flusher?.goOn()
        await sleep(roll(30))
      }
      await counting.stop()
      await Promise.all(flushers.map((flusher) => flusher.kill()))
      await reader.stop()

      await scene.holds('two processes, one of them paused', counters)
      expect(reader.faults).toEqual([])
    },
  )
})
