// Processes that enqueue jobs and work on them, and die, stall, or lose their connections or their server: no job is
// lost, and none is done twice as far as the queue decides it.

import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { LONG, SEED, someOf, tell, WIDE } from '../proof.ts'
import { startProxy } from '../servers/proxy.ts'
import { startRedis } from '../servers/redis.ts'
import type { QueueVerdict } from '../soak/queue/check-queue.ts'
import { type Death, nameOf } from '../soak/queue/death.ts'
import type { QueueRule } from '../soak/queue/fault.ts'
import type { SoakKind } from '../soak/queue/plan.ts'
import { type QueueScene, soakQueue } from '../soak/queue/soak.ts'
import { queueSabotages } from '../soak/queue/sabotages.ts'
import { awaitDeaths, breakConnections, killAndPause, restartServer } from '../soak/queue/trouble.ts'

const KINDS: readonly SoakKind[] = ['plain', 'limited', 'families']

type Happened = QueueVerdict['happened']

function holds(what: string, seed: number, verdict: QueueVerdict): void {
  tell(`queue, ${what}, seed ${seed}: ${JSON.stringify(verdict)}`)
  expect(verdict.faults).toEqual([])
}

// bee-queue#170, bull#1355: killed, paused, reset; each job has an end, and one
describe.each(someOf(KINDS, 1))(
  '%s jobs of three processes',
  { timeout: LONG ? 1_800_000 : 120_000 },
  (kind) => {
    const seed = SEED + KINDS.indexOf(kind) * 100

    test.runIf(LONG || kind === 'plain')('without faults are done once each', async () => {
      const produces = LONG ? 1000 : 60
      const verdict = await soakQueue({ kind, port: inject('redisPort'), seed, leaseMs: 60_000, produces })

      holds(`${kind}, no trouble`, seed, verdict)
      expect(verdict.totals).toMatchObject({
        reclaimed: 0,
        unheard: 0,
        'reported lost': 0,
        'without an answer': 0,
      })
    })

    // Questions about dependencies elsewhere of a killed process are asked again after a minute.
    test.runIf(LONG || kind !== 'families')(
      'survive processes that are killed, paused and poisoned',
      async () => {
        const kills = LONG ? 100 : 4
        const poison = LONG ? 5 : 4
        const port = inject('redisPort')
        const trouble = (scene: QueueScene): Promise<Happened> => killAndPause(scene, kills)
        // Some die of themselves, at moments of which the test of all deaths has more.
        const moments = deathsAt(kind === 'plain' ? ['ack-and-claim-plain', 'fail'] : ['retry', 'extend'], 1)
        const diesAt = (started: number): Death | null => moments[started] ?? null
        const verdict = await soakQueue({ kind, port, seed: seed + 1, poison, diesAt, trouble })

        holds(`${kind}, kills`, seed + 1, verdict)
        expect(verdict.happened['died']).toBeGreaterThanOrEqual(kills)
        expect(verdict.totals['reclaimed']).toBeGreaterThan(0)
        expect(verdict.totals['poisoned']).toBeGreaterThan(0)
      },
    )

    // ioredis#933, bee-queue#120
    test.runIf(LONG || kind === 'limited')(
      'survive connections that break, and answers that are lost',
      async () => {
        const proxies = await Promise.all([1, 2, 3].map(() => startProxy(inject('redisPort'))))
        onTestFinished(async () => void (await Promise.all(proxies.map((proxy) => proxy.stop()))))
        const portOf = (at: number): number => proxies[at]?.port ?? 0
        const trouble = (scene: QueueScene): Promise<Happened> =>
          breakConnections(scene, proxies, LONG ? 30_000 : 3000)
        const verdict = await soakQueue({
          kind,
          port: inject('redisPort'),
          portOf,
          seed: seed + 2,
          produces: 600,
          trouble,
        })

        holds(`${kind}, connections`, seed + 2, verdict)
        expect(verdict.happened['replies cut']).toBeGreaterThan(0)
      },
    )

    test.runIf(LONG || kind === 'plain')('survive a server that is killed and restarted', async () => {
      const server = await startRedis({ aof: 'always' })
      onTestFinished(() => server.stop())
      const trouble = (scene: QueueScene): Promise<Happened> => restartServer(scene, server, LONG ? 20 : 2)
      const verdict = await soakQueue({ kind, port: server.port, seed: seed + 3, trouble })

      holds(`${kind}, restarts`, seed + 3, verdict)
    })
  },
)

/** Where notifications of a dependency, or of its dependents, may be lost on their way between two queues. */
const BETWEEN = ['outbox', 'receive', 'delivered', 'ask', 'watch', 'enqueue', 'ack-and-claim']

/** Where a process may die that claims jobs and reports their outcomes. */
const AT_WORK = [
  'ack-and-claim-plain',
  'enqueue-alike',
  'extend',
  'retry',
  'fail',
  'release',
  'ack-and-enqueue',
]

const DEATHS: readonly Death[] = [
  ...deathsAt(['receive', 'delivered'], 1),
  ...(LONG ? [...deathsAt(AT_WORK, 1), ...deathsAt(BETWEEN, 2)] : []),
]

function deathsAt(scripts: readonly string[], call: number): Death[] {
  return scripts.flatMap((script) =>
    (['before', 'after'] as const).map((when) => ({ script: `queue/${script}`, call, when })),
  )
}

// bullmq#3362, bullmq#3122
test('no job waits for ever for a dependency in another queue, wherever the process that delivers the notification dies', {
  timeout: 600_000,
}, async () => {
  const seed = SEED + 1000
  const diesAt = (started: number): Death | null => DEATHS[started] ?? null
  const trouble = (scene: QueueScene): Promise<Happened> =>
    awaitDeaths(scene, DEATHS.length, LONG ? 120_000 : 10_000)
  const verdict = await soakQueue({ kind: 'families', port: inject('redisPort'), seed, diesAt, trouble })

  holds('families, deaths between two queues', seed, verdict)
  const died = DEATHS.filter((death) => verdict.happened[nameOf(death)] !== undefined)
  expect(died.length).toBeGreaterThan(DEATHS.length / 2)
})

// At each of these moments the queue knows what the process does not, or the other way round.
test('jobs come to their end wherever the process dies that enqueues them, gives them back or adds successors', {
  timeout: 600_000,
}, async () => {
  const seed = SEED + 1500
  const moments = LONG
    ? [1, 2, 5].flatMap((call) => deathsAt(AT_WORK, call))
    : deathsAt(someOf(['release', 'ack-and-enqueue', 'enqueue-alike'], 1), 1)
  const diesAt = (started: number): Death | null => moments[started] ?? null
  const trouble = (scene: QueueScene): Promise<Happened> =>
    awaitDeaths(scene, moments.length, LONG ? 120_000 : 20_000)
  const verdict = await soakQueue({ kind: 'steps', port: inject('redisPort'), seed, diesAt, trouble })

  holds('steps, deaths at work', seed, verdict)
  for (const script of new Set(moments.map((moment) => moment.script))) {
    const died = moments.filter(
      (moment) => moment.script === script && verdict.happened[nameOf(moment)] !== undefined,
    )
    expect(died, script).not.toEqual([])
  }
})

describe('the same soak', { timeout: 240_000 }, () => {
  const sabotages = LONG ? queueSabotages : queueSabotages.slice(0, WIDE ? 2 : 1)

  test.each(sabotages.map((each) => [each.what, each] as const))('finds that %s', async (_, sabotage) => {
    const trouble = (scene: QueueScene): Promise<Happened> => killAndPause(scene, 3)
    const broken: QueueRule[] = []
    // On a busy machine a soak may be over before the rule was needed.
    for (let soak = 0; soak < 4 && !broken.includes(sabotage.found); soak++) {
      const port = inject('redisPort')
      const { faults } = await soakQueue({
        kind: 'limited',
        port,
        seed: SEED + 2000 + soak,
        sabotage,
        trouble,
      })
      broken.push(...faults.map(({ rule }) => rule))
    }

    expect(broken).toContain(sabotage.found)
  })
})
