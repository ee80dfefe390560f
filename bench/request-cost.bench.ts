// Question: how long does the event loop of the service stand still for one permitted request, and how much does it grow?
// Expectation: no request takes more than 50 ms of one gap, nor more than 50 MB; what follows from a post is done in
// small steps.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from './harness/bench.ts'
import type { Row } from './harness/print.ts'
import { median } from './harness/statistics.ts'
import { type Probed, type Seen, startProbed } from './request-cost/probed.ts'
import { placeOn, type Scene, scenes, startReceiver } from './request-cost/scenes.ts'

const ROUNDS = 5
// What a post leaves to be done in the background.
const AFTER_MS = 2000
const QUICK_AFTER_MS = 50

interface Cost extends Row {
  readonly delayMs: number
  readonly gapMs: number
  readonly grownMb: number
}

export async function run(bench: Bench): Promise<void> {
  const receiver = await startReceiver()
  await using service = await startProbed(bench.port)
  try {
    const costs: Cost[] = []
    for (const scene of bench.quick ? scenes.slice(0, 2) : scenes) {
      costs.push(await costOf(scene, service, receiver.url, bench.quick))
    }
    bench.report('one permitted request', costs)
    const by = (column: 'gapMs' | 'grownMb'): Record<string, number> =>
      Object.fromEntries(costs.map((cost) => [cost.variant, cost[column]]))
    bench.judge('processor time of one gap, ms', by('gapMs'), { atMost: 50 })
    bench.judge('growth of the process, MB', by('grownMb'), { atMost: 50 })
  } finally {
    receiver.process.kill()
  }
}

/** After one round that does not count. */
async function costOf(scene: Scene, service: Probed, receiver: string, quick: boolean): Promise<Cost> {
  const rounds: (Seen & { grownBytes: number })[] = []
  const pauseMs = quick ? QUICK_AFTER_MS : AFTER_MS
  for (let round = 0; round <= (quick ? 1 : ROUNDS); round += 1) {
    const place = placeOn(service.url, receiver, randomUUID())
    const end = await scene.prepare?.(place)
    await sleep(pauseMs)
    await service.look()
    const { rssBytes: before } = await service.look()
    await scene.request(place)
    await sleep(pauseMs)
    const seen = await service.look()
    end?.()
    if (round > 0) rounds.push({ ...seen, grownBytes: seen.rssBytes - before })
  }
  const middle = (of: (round: (typeof rounds)[number]) => number): number =>
    Math.round(median(rounds.map(of)) * 10) / 10
  return {
    variant: scene.name,
    delayMs: middle(({ delayMs }) => delayMs),
    gapMs: middle(({ gapMs }) => gapMs),
    grownMb: middle(({ grownBytes }) => grownBytes / 1e6),
  }
}
