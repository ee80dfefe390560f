// Random histories of locks and semaphores with four processes. After each call of their scripts all that is stored and
// all that the processes believe must agree: no process believes to hold beside another one or above the limit, no
// attempt is passed, no ticket is lost, no key stays, and each that waits gets it once nothing new comes. A failure
// prints the seed and the history; `PERILUNE_SEED` repeats it. PERILUNE_LONG=1 plays 5,000 of each.

import { afterAll, beforeAll, expect, test } from 'vitest'
import { readContract } from '../conformance/files.ts'
import { countOf, SEED, tell } from '../proof.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { seeded } from '../soak/random.ts'
import { LineHistory, type Terms } from './line-history.ts'
import { LineScripts } from './line-unit.ts'
import type { Kind } from './line-view.ts'

const KINDS: readonly Kind[] = ['lock', 'semaphore']
const HOW: Readonly<Record<string, Pick<Terms, 'fullFor' | 'stepsBack'>>> = {
  'on a good server': { fullFor: 0, stepsBack: false },
  'on a server that is full for a third of the calls': { fullFor: 0.33, stepsBack: false },
  'while the clock is set back': { fullFor: 0, stepsBack: true },
}

let server: RedisServer

// Of its own: its memory is limited.
beforeAll(async () => {
  server = await startRedis()
})

afterAll(() => server.stop())

const rows = KINDS.flatMap((kind) => Object.entries(HOW).map(([how, terms]) => [kind, how, terms] as const))

test.each(rows)('a %s in random histories %s', { timeout: 900_000 }, async (kind, how, terms) => {
  const scripts = new LineScripts(kind, server.port)
  await scripts.load(readContract())
  const count = countOf(5000, 60)
  let calls = 0
  for (let history = 0; history < count; history += 1) {
    const seed = SEED + history
    const play = new LineHistory({ kind, scripts, luck: seeded(seed), ...terms }).play()
    calls += await play.catch((error: Error) => {
      throw new Error(`PERILUNE_SEED=${seed}\n${error.message}`)
    })
  }
  scripts.close()

  tell(`${kind} ${how}: ${count} histories, ${calls} steps, 0 violations`)
  expect(calls).toBeGreaterThan(count * 10)
})
